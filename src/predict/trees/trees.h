// Boosted trees over named features: what another setting does, learned from tables alone.
#pragma once

#include "predict/model.h"

namespace rubato::predict::trees {

/// "trees": ln(time) and ln(power) over the default by XGBoost, whose sum is ln(energy) (schema.h: the
/// inputs; search.h: how the trees are chosen); how wrong they are for workloads not seen, and what probes
/// teach, by residuals.h. XGBoost is needed to learn, not to predict. The same curves in the same order give
/// the same model.
[[nodiscard]] const Learner& trees_learner();

}  // namespace rubato::predict::trees
