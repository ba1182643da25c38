// What each program of a run may lose: a second costs the same in all of them, so each is given seconds as
// long as they save more joules there than elsewhere.
#pragma once

#include <cstddef>
#include <span>

#include "core/objective.h"
#include "plan/curve_belief.h"
#include "plan/spending.h"

namespace rubato::govern {

/// A program, and what it asks for.
struct Claim {
  const plan::CurveBelief* belief = nullptr;
  plan::SpendingRules rules;
  Watts board;         // at the found setting
  double seconds = 0;  // of its work there: what it weighs
  Seconds away;        // between two of its turns
};

struct Given {
  double lost = 0;  // slowdown, fraction
  double gain = 0;  // of all claims' joules at the found setting, over giving each the same slowdown
  /// What is kept for others is lost if the run ends before their turn: so much of all work is to be done at
  /// that gain before it is made good.
  Seconds made_good;
};

/// What the claim `which` is given where all together may lose `allowed` (fraction, their mean by weight):
/// greedily along each one's lower hull of seconds and joules, which are taken as plan::spend() takes them.
[[nodiscard]] Given at_one_price(std::span<const Claim> claims, std::size_t which, double allowed,
                                 const Goal& goal);

}  // namespace rubato::govern
