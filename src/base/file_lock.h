// A lock on an open file that lets go by itself when its holder dies, and cannot be held by a stopped process
// unless it was stopped by SIGSTOP: every other signal waits while it is held.
#pragma once

#include <csignal>
#include <string>

#include "base/result.h"
#include "base/units.h"

namespace rubato {

/// How long to wait for somebody else's lock, on the wall. Holders need microseconds.
inline constexpr Seconds kLockPatience{2.0};

class FileLock {
 public:
  /// timeout after kLockPatience. `name` is for the error.
  [[nodiscard]] static Result<FileLock> take(int fd, const std::string& name);
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

 private:
  FileLock(int fd, const sigset_t& before) : fd_(fd), before_(before) {}
  int fd_;
  sigset_t before_;
};

}  // namespace rubato
