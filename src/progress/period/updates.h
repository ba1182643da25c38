// A held or regularly read column, one value for each update of its sensor: the grid on which frequencies
// fold.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "progress/period/samples.h"

namespace rubato::progress {

inline constexpr std::size_t kMostUpdates = 640;  // the latest: a minute at 10 Hz

/// The values of one column, one for each update of its sensor, in order; slow change is taken off.
struct Updates {
  double update_s = 0;
  std::vector<double> value;
};

/// Readings on the grid of the updates they show, however late they were read.
[[nodiscard]] Updates updates_of(const std::deque<ColumnSample>& samples, double from_s, double to_s,
                                 double rough_update_s);

}  // namespace rubato::progress
