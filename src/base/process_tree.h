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
/// The process's real user, whatever the rights of the program it runs. Absent where it is gone or cannot be
/// looked at.
[[nodiscard]] std::optional<uid_t> real_user_of(const FsRoot& root, pid_t pid);

/// A process tree deeper than this is a loop made by reused process ids.
inline constexpr int kDeepestProcessTree = 256;

}  // namespace rubato
