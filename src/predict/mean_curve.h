// The trivial baseline: every workload behaves as the mean of those that were seen.
#pragma once

#include "predict/model.h"

namespace rubato::predict {

/// "mean-curve": the mean of time and energy over those at the default, by the knobs' share of the default's
/// value (rounded to 0.001); between settings as RatioGrid has it, because it is asked about a GPU's own
/// steps and counts there as much as at the settings of a table. It looks at no probe and no feature. Its
/// spread is that of the workloads it saw.
[[nodiscard]] const Learner& mean_curve_learner();

}  // namespace rubato::predict
