// How far choices go wrong by the noise of a table alone.
#pragma once

#include <optional>
#include <span>

#include "base/result.h"
#include "experiment/validation.h"

namespace rubato::prediction_evidence {

/// Fractions. A model may do better where it probes, which tells it the row it takes, or by what other
/// workloads have in common with this one.
struct ChoiceFloor {
  double regret = 0;
  std::optional<double> captured;  // absent where nothing can be saved inside the bound
};

/// Choosing, and probing as often as `options` says, by what all other rows of the workload say of each row
/// (experiment::floor_guesses), which no model sees. How unsure of them to be (a quarter to one and a half
/// times what they are off by over the table) is chosen in hindsight, for each figure by itself.
[[nodiscard]] Result<ChoiceFloor> floor_of_choices(std::span<const predict::Curve> curves,
                                                   const experiment::ValidationOptions& options);

}  // namespace rubato::prediction_evidence
