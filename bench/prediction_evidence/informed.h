// What could be told if the table asked about were learnt from as well.
#pragma once

#include <span>

#include "base/result.h"
#include "prediction_evidence/asked.h"
#include "prediction_evidence/floors.h"

namespace rubato::prediction_evidence {

/// Each workload of `curves` from `train` and from the other groups of `curves`, which is more than was asked
/// for: by the two models that draw whole curves, the better of them for each figure in hindsight. Fractions.
[[nodiscard]] Result<Neighbours> informed(std::span<const predict::Curve> curves,
                                          std::span<const predict::Curve> train, const Case& of);

}  // namespace rubato::prediction_evidence
