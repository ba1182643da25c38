// A file in memory that has no name.
#pragma once

#include <linux/memfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"

namespace rubato {

/// `name` is for /proc alone; `flags` as of memfd_create(2), MFD_CLOEXEC and the like. Not open, and errno
/// says why, where the kernel has none (before 3.17). By number, since glibc has it from 2.27 only.
inline ScopedFd unnamed_file(const char* name, unsigned flags) {
  return ScopedFd(static_cast<int>(::syscall(SYS_memfd_create, name, flags)));
}

}  // namespace rubato
