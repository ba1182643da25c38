// Who started whom, as /proc tells it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "base/fs_root.h"

namespace rubato {

/// Absent where the process is gone or cannot be looked at.
[[nodiscard]] std::optional<pid_t> parent_of(const FsRoot& root, pid_t pid);

/// When it began, in the kernel's ticks since boot: tells it from a later process of the same id. Absent as
/// above.
[[nodiscard]] std::optional<std::int64_t> beginning_of(const FsRoot& root, pid_t pid);

struct ProcessUsers {
  uid_t real = 0;       // whatever the rights of the program it runs
  uid_t effective = 0;  // as SO_PEERCRED tells it
};
/// Absent where the process is gone or cannot be looked at.
[[nodiscard]] std::optional<ProcessUsers> users_of(const FsRoot& root, pid_t pid);

/// The process that a thread belongs to; of a process its own id. /proc/ID is there for both. Absent as
/// above.
[[nodiscard]] std::optional<pid_t> process_of_thread(const FsRoot& root, pid_t thread);

/// A process tree deeper than this is a loop made by reused process ids.
inline constexpr int kDeepestProcessTree = 256;

}  // namespace rubato
