// One look at a stretch of the trace: which period, if any, explains it.
#pragma once

#include <optional>
#include <vector>

#include "core/iteration_estimate.h"
#include "progress/period/judged.h"

namespace rubato::progress {

struct Finding {
  double period_s = 0;
  Likeness likeness;        // one period later, stretch by stretch
  double longer_gain = -1;  // the most a longer candidate betters it, as a mean of likeness
  double shorter = 0;       // median likeness of a shorter candidate that was given up
  double continuity = 0;    // correlation from one update of the sensor to the next
  bool suspect = false;     // a multiple fits better only where it falls on the readings' own grid
  int parts = 1;            // iterations in a cycle of `level`: the cycle repeats more visibly than they do
  PeriodRelation relation = PeriodRelation::exact;  // another: of the sensor's updates, not to be followed
  double smooth = 0;            // share of the updates' variance in a few harmonics of one period
  Series level;                 // columns weighed, slow change taken off: what the cycles are followed on
  std::vector<double> factors;  // its columns' weights
};

struct Analysis {
  std::optional<Finding> finding;
  double best_refused = 0;  // median likeness of the best candidate that did not qualify
};

/// The iteration among the candidates of all bands: the shortest period that no longer one betters.
[[nodiscard]] Analysis analyse(const Samples& samples, const Span& span);

}  // namespace rubato::progress
