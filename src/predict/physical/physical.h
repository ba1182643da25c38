// Physical curves: a workload's time and power at any limit and clocks follow from a dozen parameters, of
// which its default says a little, other workloads of its GPU say more, and every measured setting says most.
#pragma once

#include "predict/model.h"

namespace rubato::predict::physical {

/// "physical". No curves at all are enough: the prior of data sheets and literature stands then.
[[nodiscard]] const Learner& physical_learner();

}  // namespace rubato::predict::physical
