// What no weighing of the models at hand, and no neighbourhood, would have reached. No floor of other models.
#pragma once

#include <optional>
#include <span>

#include "experiment/validation.h"
#include "prediction_evidence/floors.h"

namespace rubato::prediction_evidence {

/// Rows: the best mixture (of logarithms, shares in tenths) of what the models said; the best model where
/// they were `probed`, because each probed elsewhere. Choices: the best model. `others` counts beside them.
/// Everything is chosen in hindsight, for each figure by itself. Nothing where there is no model. Fractions.
[[nodiscard]] std::optional<Neighbours> hindsight(std::span<const experiment::Validation> models, bool probed,
                                                  const std::optional<Neighbours>& others);

}  // namespace rubato::prediction_evidence
