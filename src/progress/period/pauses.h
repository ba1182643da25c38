// What the order of a leader's cycles tells of something longer: lengths that alternate, and pauses that come
// after the same time again. Micro-batches are such parts of an iteration, iterations such parts of an epoch.
#pragma once

#include "progress/period/cycle_tracker.h"

namespace rubato::progress {

struct CycleOrder {
  /// Squares between the lengths of neighbours, less those between lengths two (three; four to twelve, the
  /// most) apart, over their standard error; 0 where too few cycles follow each other.
  double by_twos_z = 0;
  double by_threes_z = 0;
  double by_more_z = 0;
  double pauses = 0;      // between cycles
  double apart_s = 0;     // of two pauses, the median; 0 where there are fewer than two distances
  double unevenness = 0;  // half the distance of the quartiles of those distances, over the median
};

[[nodiscard]] CycleOrder order_of(const std::vector<Cycle>& cycles);

}  // namespace rubato::progress
