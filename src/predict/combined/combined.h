// "rubato": several ways to predict, weighed by how well each does on workloads it has not seen.
#pragma once

#include "predict/model.h"

namespace rubato::predict {

/// Learns with every member that the curves allow: physical, shared-curve, trees, mean-curve.
[[nodiscard]] const Learner& combined_learner();

}  // namespace rubato::predict
