// Which setting to try next, and whether another try is worth it.
#pragma once

#include <cstddef>
#include <optional>

#include "core/objective.h"
#include "govern/rubato/history.h"
#include "plan/curve_belief.h"

namespace rubato::govern {

struct Try {
  std::size_t setting = 0;
  double holds = 0;   // probability that it keeps the bound
  double saving = 0;  // expected, of the objective
  double gain = 0;    // expected over the best measured so far, a broken bound gaining nothing
};

/// By expected gain over the best setting measured. Nothing: the gain is not worth a try, or no setting is
/// worth a try, or the only ones that are might break the bound badly.
[[nodiscard]] std::optional<Try> next_try(const plan::CurveBelief& belief, const History& history,
                                          const Goal& goal, Watts board);

}  // namespace rubato::govern
