// How surely a budget is kept: what counts as lost of what is not known.
#pragma once

#include "govern/rubato/program.h"
#include "plan/spending.h"

namespace rubato::govern {

/// For a program of which so much was seen as of this one.
[[nodiscard]] plan::SpendingRules spending_rules(const Program& program, Errors errors);
/// Whether one turn at this setting is inside the bound.
[[nodiscard]] bool pays_turn(const plan::CurveBelief& belief, const plan::Account& account,
                             std::size_t setting, const plan::SpendingRules& rules);

/// Of what is not known of one setting alone this much counts as lost: a chunk of holding it tells.
inline constexpr double kOwnPart = 0.25;
/// Standard errors of the objective that speak for a setting.
inline constexpr double kOptimism = 0.5;
/// Time is shared between two settings only for a gain that can be told from none, and in turns of a minute
/// or so.
inline constexpr double kShareErrors = 2;
inline constexpr Seconds kTurn{60};

}  // namespace rubato::govern
