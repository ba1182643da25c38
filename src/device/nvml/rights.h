// Whether this thread may change GPU settings, read from the kernel without asking the driver to change
// anything.
#pragma once

#include "base/fs_root.h"
#include "core/capability.h"

namespace rubato::device::nvml {

/// The driver asks the calling thread for CAP_SYS_ADMIN in the initial user namespace.
[[nodiscard]] Capability setting_right(const FsRoot& root);

}  // namespace rubato::device::nvml
