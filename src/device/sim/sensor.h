// What the board's own power sensor and energy counter make of the true power.
#pragma once

#include "base/clock.h"
#include "device/sim/physics.h"
#include "device/sim/profile.h"
#include "device/sim/state.h"

namespace rubato::device::sim {

/// Utilisation is a mean over this; the driver's manual says between 1/6 s and 1 s.
inline constexpr std::int64_t kUtilisationNs = 166'666'667;

/// The seed places the sensor's periods in time and draws this board's gain. Before `start` the GPU was idle.
void start_sensor(SensorState& sensor, const Profile& profile, const Start& start, const Activity& idle);
/// The next moment at which something in the sensor begins or ends, after `now_ns`.
[[nodiscard]] std::int64_t next_sensor_edge(const SensorState& sensor, const Profile& profile,
                                            std::int64_t now_ns);
/// Power was constant from `from_ns` to `to_ns`, and no edge lies between them.
void sense(SensorState& sensor, const Profile& profile, std::int64_t from_ns, std::int64_t to_ns,
           const Activity& now);
/// A stretch that nobody looked at: only the counter goes on. At least one second must be sensed after it.
void sense_skipped(SensorState& sensor, const Profile& profile, std::int64_t from_ns, std::int64_t to_ns,
                   Joules energy);
void reset_counter(SensorState& sensor, std::int64_t now_ns);

}  // namespace rubato::device::sim
