// The beat between a job's iterations and a sensor that sees part of the time: near a rational ratio of the
// two, every look falls on the same few moments of an iteration and no longer run makes the mean better.
#pragma once

#include <optional>

#include "base/units.h"
#include "core/sensor_sight.h"

namespace rubato {

/// A training's iterations, in order of time.
struct StepTime {
  Seconds mean;
  Seconds spread;  // standard deviation of one step
};

/// How wrong the mean power over `length` may be because of the beat, as a fraction of the standard deviation
/// of the power within one step: root mean square over the phases the two may begin in. For a step of two
/// levels at any duty cycle, and the worst sensor period within `period_doubt` (a fraction) of the known one.
/// 0 where a reading is the mean of all of the time since the one before.
[[nodiscard]] double beat_bias(const StepTime& step, const SensorSight& sensor, Seconds length,
                               double period_doubt);

/// Such that the looks of one window fall on so few moments of a step that its mean is off by more than
/// looks at random moments would be; `looks` to `steps` is the ratio near which it happens.
struct Beat {
  unsigned looks = 1;
  unsigned steps = 1;
  double bias = 0;  // as beat_bias()
};
[[nodiscard]] std::optional<Beat> find_beat(const StepTime& step, const SensorSight& sensor, Seconds length,
                                            double period_doubt);

/// How far the true period of a sensor may be from the known one, as a fraction: what a second of fast reads
/// leaves open. The published 100 ms are 99 to 101 ms on most boards, 104 ms on some (Yang, Adamek, Armour,
/// SC24).
inline constexpr double kPeriodDoubt = 0.005;

/// Standard deviation of what the energy of a window may be off by because of the beat, where the readings
/// have this mean and scatter by this much.
[[nodiscard]] Joules beat_sigma(const StepTime& step, const SensorSight& sensor, Seconds length, Watts mean,
                                Watts scatter);

/// How long a window must be for beat_bias() to be `bias` at most; absent where a day is not enough.
[[nodiscard]] std::optional<Seconds> length_for(const StepTime& step, const SensorSight& sensor, double bias,
                                                double period_doubt);

}  // namespace rubato
