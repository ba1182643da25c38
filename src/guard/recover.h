// What a dead run left behind on one GPU: read, judged and put back before anybody else takes the GPU.
#pragma once

#include <optional>
#include <string>

#include "base/fs_root.h"
#include "core/restoration.h"
#include "guard/files.h"
#include "guard/journal.h"
#include "guard/opened_gpu.h"

namespace rubato::guard {

/// Under which boot and driver this process runs; settings do not outlive either.
struct Era {
  std::string boot_id;
  std::string driver_version;
};

[[nodiscard]] Result<Era> present_era(const FsRoot& root, std::string driver_version);

/// The energy counter in the journal's unit, where the GPU has one.
[[nodiscard]] std::optional<std::int64_t> energy_mj(device::Gpu& gpu);

/// Why the journal's settings are gone by themselves; nothing where they may still stand.
[[nodiscard]] std::optional<std::string> why_void(const Header& written, const Era& now,
                                                  std::optional<std::int64_t> energy_now_mj);

struct Recovery {
  RestorationReport report;
  bool cleared = false;  // no journal stands in the way any more
};

/// Nothing where no journal was left. The caller holds the GPU's Ownership.
[[nodiscard]] Result<std::optional<Recovery>> recover(const Folder& folder, const GpuId& gpu,
                                                      OpenedGpu& opened, const Era& now);

}  // namespace rubato::guard
