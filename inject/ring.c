#include "ring.h"

#include <errno.h>
#include <fcntl.h>
#include <rubato/mark_layout.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static int32_t rank_from_environment(void) {
  static const char* const kNames[] = {"RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK"};
  for (unsigned i = 0; i < sizeof kNames / sizeof kNames[0]; ++i) {
    const char* value = getenv(kNames[i]);
    if (value == NULL || *value < '0' || *value > '9') continue;
    char* end;
    const long rank = strtol(value, &end, 10);
    if (*end == '\0' && rank <= INT32_MAX) return (int32_t)rank;
  }
  return -1;
}

bool ring_create(struct ring* ring, const char* path, const struct ring_layout* layout) {
  const size_t size = sizeof(struct rubato_mark_header) + (size_t)layout->capacity * layout->record_size;
  /* Beyond `ulimit -f` the job would be killed with SIGXFSZ. */
  struct rlimit largest;
  if (getrlimit(RLIMIT_FSIZE, &largest) == 0 && size > largest.rlim_cur) {
    errno = EFBIG;
    return false;
  }
  const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return false;
  const int full = posix_fallocate(fd, 0, (off_t)size);
  void* map = full == 0 ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
  const int error = full != 0 ? full : errno;
  close(fd);
  if (map == MAP_FAILED) {
    unlink(path);
    errno = error;
    return false;
  }
  struct rubato_mark_header* header = map;
  header->version = layout->version;
  header->header_size = sizeof *header;
  header->record_size = layout->record_size;
  header->capacity = layout->capacity;
  header->pid = getpid();
  header->tid = (int32_t)syscall(SYS_gettid);
  header->rank = rank_from_environment();
  /* The magic last: whoever sees it sees a whole header. */
  atomic_store_explicit((_Atomic uint64_t*)&header->magic, layout->magic, memory_order_release);
  *ring = (struct ring){map, layout->capacity, layout->record_size, 0};
  return true;
}

static void* slot_of(const struct ring* ring, uint64_t number) {
  return (char*)ring->map + sizeof(struct rubato_mark_header) +
         (size_t)(number & (ring->capacity - 1)) * ring->record_size;
}

#if defined(__SANITIZE_THREAD__) && __GNUC__ >= 11
/* GCC warns that its thread sanitizer follows no fences; who reads what this one orders is another process.
 */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
#endif
void* ring_next(struct ring* ring) {
  void* slot = slot_of(ring, ring->written);
  atomic_store_explicit((_Atomic uint64_t*)slot, 0, memory_order_relaxed);
  atomic_thread_fence(memory_order_release);
  /* A reader that sees a torn record sees sequence 0 too, and takes neither. */
  memset((char*)slot + sizeof(uint64_t), 0, ring->record_size - sizeof(uint64_t));
  return slot;
}
#if defined(__SANITIZE_THREAD__) && __GNUC__ >= 11
#pragma GCC diagnostic pop
#endif

void ring_publish(struct ring* ring) {
  struct rubato_mark_header* header = ring->map;
  atomic_store_explicit((_Atomic uint64_t*)slot_of(ring, ring->written), ring->written + 1,
                        memory_order_release);
  ++ring->written;
  atomic_store_explicit((_Atomic uint64_t*)&header->written, ring->written, memory_order_release);
}
