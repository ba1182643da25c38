// Whether rubato has its hand on a GPU's settings, seen from outside by a process without any right: a
// journal says that something has to be put back, the lock beside it says whether somebody lives who will.
#pragma once

#include <filesystem>

#include "base/fs_root.h"
#include "core/gpu_id.h"

namespace rubato::exporter {

enum class SettingGuard {
  none,     // nothing of rubato's is in force
  alive,    // a guard holds the GPU and will put back what it found
  dead,     // there is a journal and nobody who holds it
  unknown,  // the folder or the kernel's list of locks cannot be read
};

/// `journals`: /run/rubato, or a user's own folder where the GPU is simulated; one that is not there is
/// empty. Looks at names and at /proc/locks, and takes no lock itself, which could get into a guard's way.
/// The kernel lists no locks of other process namespaces.
[[nodiscard]] SettingGuard setting_guard_of(const GpuId& gpu, const std::filesystem::path& journals,
                                            const FsRoot& root = {});

}  // namespace rubato::exporter
