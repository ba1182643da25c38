// What the cycles followed say of their length.
#pragma once

#include <vector>

#include "progress/period/cycle_tracker.h"

namespace rubato::progress {

constexpr double kTimedWell = 12;  // updates in a cycle, from which on single cycles are timed well

/// The lengths a median is taken of: single cycles where the sensor resolves them, else means over as many as
/// last `updates` of the sensor; above kTimedWell over no more than a fifth of the cycles for that.
[[nodiscard]] std::vector<double> lengths_of(const std::vector<Cycle>& cycles, double period_s,
                                             double update_s, double updates = kTimedWell);

struct TimedLength {
  double at_s = 0;  // its end
  double length_s = 0;
};

/// Means over all neighbours that together last so many updates, and are two at least: what the iteration's
/// length is taken from. They overlap, so that each cycle counts wherever a run of them begins.
[[nodiscard]] std::vector<TimedLength> timed_lengths(const std::vector<Cycle>& cycles, double period_s,
                                                     double update_s);
[[nodiscard]] std::vector<double> overlapping_lengths(const std::vector<Cycle>& cycles, double period_s,
                                                      double update_s);

/// The median; of uneven lengths the mean of those around it.
[[nodiscard]] double steady_median(std::vector<double> lengths);

}  // namespace rubato::progress
