// How often a reading is refreshed, from the moments at which it was seen to change. Says nothing where the
// changes may be the job's own rather than the sensor's.
#pragma once

#include <optional>
#include <span>

#include "base/clock.h"

namespace rubato::measure {

/// A value as read. Values are in the driver's smallest unit (mW, mJ), so that two may be compared exactly.
struct SeenValue {
  TimePoint at;
  double value = 0;
};

struct UpdatePeriod {
  Seconds period;
  std::size_t changes = 0;  // it was found from
};

/// `values` in order of time, read several times as often as they change.
[[nodiscard]] std::optional<UpdatePeriod> find_update_period(std::span<const SeenValue> values);

/// True where the changes look like noise or drift that every refresh shows, not like the few levels of a job
/// that a sensor without noise would repeat exactly.
[[nodiscard]] bool every_refresh_shows(std::span<const SeenValue> values);

}  // namespace rubato::measure
