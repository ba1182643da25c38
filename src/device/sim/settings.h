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

/// Each puts one setting into a request, or says why this board does not take it.
[[nodiscard]] Status request_sm_lock(ClockRequest& request, const Profile& profile, ClockRange range);
[[nodiscard]] Status request_memory_lock(ClockRequest& request, const Profile& profile, ClockRange range);
[[nodiscard]] Status request_application_clocks(ClockRequest& request, const Profile& profile,
                                                ApplicationClocks clocks);
/// not_supported: this board cannot set `what`.
[[nodiscard]] Error lacks(const Profile& profile, std::string_view what);

/// The clocks follow after the profile's latency.
void ask(GpuState& state, const Profile& profile, const ClockRequest& request);
void reload_driver(GpuState& state, const Profile& profile);
/// Settings, counter and compute contexts gone, as after a reset of the GPU alone.
void reset_gpu(GpuState& state, const Profile& profile);
/// No call answers any more, and what computed on it is dead.
void lose_gpu(GpuState& state);

}  // namespace rubato::device::sim
