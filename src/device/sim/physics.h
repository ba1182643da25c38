// How one simulated GPU goes on by itself: work, clocks, power, heat. Pure functions of the state.
#pragma once

#include <optional>

#include "base/clock.h"
#include "device/sim/profile.h"
#include "device/sim/state.h"

namespace rubato::device::sim {

/// The control loop's grid. Limiter and temperature change on it only, and clocks only on it and when a
/// request for them is due: it does not matter to the physics when somebody looks.
inline constexpr std::int64_t kTickNs = 5'000'000;

/// What the GPU does until something changes.
struct Activity {
  unsigned sharers = 0;  // contexts with work; each gets an equal share of the time
  Watts power;
  Watts memory;              // the memory's part of it
  double sm_busy = 0.0;      // fraction of time with a kernel on the SMs
  double memory_busy = 0.0;  // fraction of time the memory interface moves data
};

struct Start {
  TimePoint now;
  std::uint64_t seed = 1;
  unsigned index = 0;
  Celsius ambient;
  std::optional<Celsius> temperature;  // absent: idle for long
};
void start_gpu(GpuState& state, const Profile& profile, const Start& start);
/// Nothing where `now` is in the state's past.
void advance(GpuState& state, const Profile& profile, TimePoint now);

[[nodiscard]] Activity activity(const GpuState& state, const Profile& profile);
/// Highest SM clock index the requests in force allow; with none, where this board's own boost ends at its
/// present temperature.
[[nodiscard]] std::uint32_t highest_allowed(const GpuState& state, const Profile& profile);
/// Held below that: by heat; by the board itself, for heat or because somebody outside asks for it.
[[nodiscard]] bool slowed_by_heat(const GpuState& state, const Profile& profile);
[[nodiscard]] bool slowed_by_brake(const GpuState& state);
[[nodiscard]] bool clocks_idle(const GpuState& state, const Profile& profile);

}  // namespace rubato::device::sim
