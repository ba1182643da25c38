// Learning the population of workloads of a GPU from measured curves: expectation and maximisation,
// alternating.
#pragma once

#include <span>

#include "base/result.h"
#include "predict/physical/learned.h"

namespace rubato::predict::physical {

/// None at all: the prior stands. invalid_argument: a curve that asked() refuses.
[[nodiscard]] Result<Learned> learn_population(std::span<const Curve> curves);

/// A workload's rows in the model's terms; the noise is left at zero.
[[nodiscard]] Result<Measured> measured_of(const Known& known, std::span<const Observed> rows);

}  // namespace rubato::predict::physical
