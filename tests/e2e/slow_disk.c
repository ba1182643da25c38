/* Preloaded into rubato's processes: a disk that is slow where run records lie.
 *
 *   SLOW_DISK_SYNC_S=N    the first sync of a record takes N seconds
 *   SLOW_DISK_MAKE_S=N    making the folder of records takes N seconds
 *   SLOW_DISK_LOG=FILE    gets a line where one of them begins
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void be_slow(const char* how_long, const char* what) {
  static int slow_already = 0;
  const char* seconds = getenv(how_long);
  if (seconds == NULL || __atomic_exchange_n(&slow_already, 1, __ATOMIC_RELAXED)) return;
  const char* log = getenv("SLOW_DISK_LOG");
  if (log != NULL) {
    const int fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd >= 0) {
      dprintf(fd, "%s\n", what);
      close(fd);
    }
  }
  struct timespec left = {atol(seconds), 0};
  while (nanosleep(&left, &left) != 0) {
  }
}

static int is_record(int fd) {
  char link[64];
  char path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t size = readlink(link, path, sizeof path - 1);
  if (size < 0) return 0;
  path[size] = 0;
  return strstr(path, "/runs/") != NULL && strstr(path, ".sqlite") != NULL;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int fsync(int fd) {
  if (is_record(fd)) be_slow("SLOW_DISK_SYNC_S", "fsync");
  return REAL(fsync)(fd);
}
int fdatasync(int fd) {
  if (is_record(fd)) be_slow("SLOW_DISK_SYNC_S", "fdatasync");
  return REAL(fdatasync)(fd);
}
int mkdir(const char* path, mode_t mode) {
  const size_t length = strlen(path);
  if (length > 5 && strcmp(path + length - 5, "/runs") == 0) be_slow("SLOW_DISK_MAKE_S", "mkdir");
  return REAL(mkdir)(path, mode);
}
