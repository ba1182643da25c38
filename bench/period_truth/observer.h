// What the readings of a missed trace could have told: an observer who is given the program's marks and the
// noise, and asked only which of two it was, the true period or what the detector said. No detector sees any
// of this; it bounds what any of them could reach, generously, since none is given marks.
#pragma once

#include <optional>

#include "period_truth/trace.h"

namespace rubato::period_truth {

/// Logarithm of how much likelier the power readings are with the true period than with `stated_s`, or with
/// no period at all where that is absent; 0 where the trace has no iterations. Above 0 the observer chooses
/// the truth.
///
/// Time runs by the marks, so that neither period suffers from jitter; iterations with stalls, and pauses,
/// are left out. Each reading is foretold by the others at its phase, but those of its own block of periods
/// (leave one out), in Gaussian noise: the sensor's, its rounding, and what does not repeat under the true
/// period. A longer period has more phases to learn from fewer readings, and so pays for them.
[[nodiscard]] double log_likelihood_ratio(const Trace& trace, std::optional<double> stated_s);

}  // namespace rubato::period_truth
