// What the cycles followed say of their length.
#pragma once

#include <vector>

#include "progress/period/cycle_tracker.h"

namespace rubato::progress {

/// The lengths a median is taken of: single cycles where the sensor resolves them, else means over as many as
/// it takes.
[[nodiscard]] std::vector<double> lengths_of(const std::vector<Cycle>& cycles, double period_s,
                                             double update_s);

/// The median; of uneven lengths the mean of those around it.
[[nodiscard]] double steady_median(std::vector<double> lengths);

}  // namespace rubato::progress
