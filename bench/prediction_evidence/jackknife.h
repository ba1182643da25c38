// How much a figure hangs on which groups of workloads happen to be in its table.
#pragma once

#include "experiment/validation.h"
#include "prediction_evidence/floors.h"

namespace rubato::prediction_evidence {

/// Standard errors of the figures by leaving out one group of what was judged after the other (Quenouille
/// 1956, Tukey 1958). Fractions; zero where there is one group.
[[nodiscard]] Neighbours standard_errors(const experiment::Validation& found);

}  // namespace rubato::prediction_evidence
