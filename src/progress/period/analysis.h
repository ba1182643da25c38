// One look at a stretch of the trace: which period, if any, explains it.
#pragma once

#include <optional>
#include <vector>

#include "core/iteration_estimate.h"
#include "progress/period/cycle_tracker.h"
#include "progress/period/judged.h"
#include "progress/period/recall.h"

namespace rubato::progress {

struct Finding {
  double period_s = 0;
  Likeness likeness;                                // one period later, stretch by stretch
  double chance = 0;                                // that this is the iteration (ranking.h)
  double continuity = 0;                            // correlation from one update of the sensor to the next
  PeriodRelation relation = PeriodRelation::exact;  // another: of the sensor's updates, not to be followed
  double smooth = 0;            // share of the updates' variance in a few harmonics of one period
  Followed followed;            // the iterations, where the relation is exact
  Series level;                 // columns weighed, slow change taken off: what the cycles are followed on
  std::vector<double> factors;  // its columns' weights
};

struct Analysis {
  std::optional<Finding> finding;
  double likest = 0;  // median likeness of the likest candidate
  double chance = 0;  // of the best candidate, whether believed or not
  std::optional<double>
      unresolved_s;  // the best candidate's length, where the readings do not tell it from others
  std::vector<Opinion> opinions;  // of all that were followed, without what is recalled
};

/// The octaves asked about, each on a grid as coarse as it allows.
[[nodiscard]] std::vector<Band> bands_of(const Samples& samples, const Span& span);

/// The iteration among the candidates of all bands: the one of the highest chance. `recall`: looks at less of
/// the same trace.
[[nodiscard]] Analysis analyse(const Samples& samples, const Span& span, const Recall& recall = {});

}  // namespace rubato::progress
