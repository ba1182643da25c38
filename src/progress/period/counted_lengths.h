// The iteration's length where its marks stick to the updates of the sensor.
#pragma once

#include <optional>
#include <vector>

#include "progress/period/cycle_lengths.h"

namespace rubato::progress {

/// Of an iteration of 3.1 updates most cycles seem to last three, and one in ten four: that one is taken for
/// held up, and what remains says 3.0. So where the usual length is a whole number of updates: means over
/// twelve cycles, in which what lies between two that were followed counts as the cycles it must have held.
/// Absent where the usual length is none, where an iteration lasts so many updates that one more is no
/// matter, where lengths differ by themselves (sums then vary as those of independent lengths do; of these
/// they do not), and of fewer than 24 cycles. `period_s`: a first guess; `update_s`: between two values that
/// can differ.
[[nodiscard]] std::optional<std::vector<TimedLength>> counted_lengths(const std::vector<Cycle>& cycles,
                                                                      double period_s, double update_s);

/// Those where there are any, else timed_lengths(): what the length stated is taken from. `reading_s`:
/// between two readings, which marks stick to where they are rarer than the updates.
[[nodiscard]] std::vector<TimedLength> stated_lengths(const std::vector<Cycle>& cycles, double period_s,
                                                      double update_s, double reading_s);

}  // namespace rubato::progress
