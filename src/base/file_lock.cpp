#include "base/file_lock.h"

#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <utility>

#include "base/clock.h"
#include "base/text.h"

namespace rubato {
namespace {

sigset_t block_all() {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  return before;
}

}  // namespace

Result<FileLock> FileLock::take(int fd, const std::string& name) {
  const RealClock clock;
  const TimePoint give_up = clock.now() + kLockPatience;
  for (long pause_ns = 20'000;; pause_ns = std::min(pause_ns * 2, 5'000'000L)) {
    const sigset_t before = block_all();
    if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return FileLock(fd, before);
    const int error = errno;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (error != EWOULDBLOCK && error != EINTR) return fail(from_errno(error, cat("cannot lock ", name)));
    if (clock.now() >= give_up)
      return fail(
          ErrorCode::timeout,
          cat(name, " has been locked for ", kLockPatience, " by another process, which is probably stopped"),
          "continue or end that process (`fuser` names it)");
    const timespec pause{0, pause_ns};
    ::nanosleep(&pause, nullptr);
  }
}

FileLock::FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)), before_(other.before_) {}

FileLock::~FileLock() {
  if (fd_ < 0) return;
  ::flock(fd_, LOCK_UN);
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace rubato
