// What the driver checks before it takes a setting, and how a setting enters a GPU's state.
#pragma once

#include "base/result.h"
#include "core/setting.h"
#include "device/sim/profile.h"
#include "device/sim/state.h"

namespace rubato::device::sim {

[[nodiscard]] Status check_limit(const Profile& profile, Watts limit);
/// Index of a clock the table has; else invalid_argument that names the nearest. `domain`: "SM" or "memory".
[[nodiscard]] Result<std::uint32_t> clock_index(const Profile& profile, const std::vector<Megahertz>& clocks,
                                                Megahertz clock, std::string_view domain);
struct IndexRange {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
};
[[nodiscard]] Result<IndexRange> clock_range(const Profile& profile, const std::vector<Megahertz>& clocks,
                                             ClockRange range, std::string_view domain);

/// The clocks follow after the profile's latency.
void ask(GpuState& state, const Profile& profile, const ClockRequest& request);
void reload_driver(GpuState& state, const Profile& profile);

}  // namespace rubato::device::sim
