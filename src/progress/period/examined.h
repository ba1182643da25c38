// A look put into words: the period it found with how sure that is, or why there is none.
#pragma once

#include "core/iteration_estimate.h"
#include "progress/period/look.h"
#include "progress/period/recall.h"
#include "progress/period/samples.h"
#include "progress/period/trail.h"

namespace rubato::progress {

struct Examined {
  Look look;
  IterationEstimate statement;  // its period that of the whole trace
  double latest_s = 0;          // median of the last iterations
};

/// `trail`: the iterations followed before, some of which the look may not reach or explain.
[[nodiscard]] Examined examine(const Samples& samples, const Span& span, const Recall& recall,
                               const Trail& trail);

/// Median of the last iterations seen.
[[nodiscard]] double latest_length(const std::vector<TimedLength>& lengths);

}  // namespace rubato::progress
