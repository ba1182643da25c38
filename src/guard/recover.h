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

/// For a header: the lower of two readings, as one that is too high by mistake would look like a reset later.
[[nodiscard]] std::optional<std::int64_t> lowest_energy_mj(device::Gpu& gpu);

/// Why settings of that boot and driver are gone by themselves; nothing where they may still stand.
[[nodiscard]] std::optional<std::string> why_over(const Header& written, const Era& now);

/// Whether the energy counter says, twice, that the GPU was reset since the header was written. It may lie:
/// one that began anew by itself looks the same.
[[nodiscard]] bool counter_fell(const Header& written, device::Gpu& gpu);

/// Whether the power limit still is one that the journal explains, which no reset would have left. False
/// where rubato did not touch it.
[[nodiscard]] bool limit_stands(const JournalContent& written, const PowerLimits& now);

/// Why nothing of a dead run's is to be put back: why_over(), or a reset that counter and power limit agree
/// on. Where rubato touched no limit, nothing but the counter tells a reset, and clocks are put back all the
/// same: unlocking what a reset unlocked changes nothing.
[[nodiscard]] std::optional<std::string> why_void(const JournalContent& written, const Era& now,
                                                  device::Gpu& gpu);

struct Recovery {
  RestorationReport report;
  bool cleared = false;  // no journal stands in the way any more
};

/// Nothing where no journal was left. The caller holds the GPU's Ownership.
[[nodiscard]] Result<std::optional<Recovery>> recover(const Folder& folder, const GpuId& gpu,
                                                      OpenedGpu& opened, const Era& now);

}  // namespace rubato::guard
