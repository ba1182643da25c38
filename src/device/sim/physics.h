// How one simulated GPU goes on by itself: work, clocks, power, heat. Pure functions of the state.
#pragma once

#include <optional>

#include "base/clock.h"
#include "device/sim/profile.h"
#include "device/sim/state.h"

namespace rubato::device::sim {

/// The control loop's grid. Clocks, limiter and temperature change on it only, so that it does not matter to
/// the physics when somebody looks.
inline constexpr std::int64_t kTickNs = 5'000'000;

/// What the GPU does until something changes.
struct Activity {
  unsigned sharers = 0;  // contexts with work; each gets an equal share of the time
  Watts power;
  double sm_busy = 0.0;      // fraction of time with a kernel on the SMs
  double memory_busy = 0.0;  // fraction of time the memory interface moves data
};

void start_gpu(GpuState& state, const Profile& profile, TimePoint now, std::uint64_t seed, unsigned index);
/// Nothing where `now` is in the state's past.
void advance(GpuState& state, const Profile& profile, TimePoint now);

[[nodiscard]] Activity activity(const GpuState& state, const Profile& profile);
/// Highest SM clock index the requests in force allow.
[[nodiscard]] std::uint32_t highest_allowed(const GpuState& state, const Profile& profile);
[[nodiscard]] bool clocks_idle(const GpuState& state, const Profile& profile);

}  // namespace rubato::device::sim
