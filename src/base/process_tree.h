// Who started whom, as /proc tells it.
#pragma once

#include <sys/types.h>

#include <optional>

#include "base/fs_root.h"

namespace rubato {

/// Absent where the process is gone or cannot be looked at.
[[nodiscard]] std::optional<pid_t> parent_of(const FsRoot& root, pid_t pid);

/// A process tree deeper than this is a loop made by reused process ids.
inline constexpr int kDeepestProcessTree = 256;

}  // namespace rubato
