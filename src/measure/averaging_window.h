// Over how long a time each power reading is a mean, from how it follows the energy counter when the job's
// load moves. A window shorter than a few updates, or one that sees part of the time, cannot be told this
// way.
#pragma once

#include <optional>
#include <span>

#include "base/clock.h"
#include "core/sample.h"

namespace rubato::measure {

struct WindowTrial {
  bool decidable = false;         // the load moved enough to look closely, which costs milliseconds
  std::optional<Seconds> window;  // absent: unknown, because a shorter mean or a lag fits as well
};

/// Readings in order of time, at the sensor's own pace; `update_period` of the power, `counter_period` of the
/// counter.
[[nodiscard]] WindowTrial find_averaging_window(std::span<const FastReading> readings, Seconds update_period,
                                                Seconds counter_period);

}  // namespace rubato::measure
