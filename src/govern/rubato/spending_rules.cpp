#include "govern/rubato/spending_rules.h"

namespace rubato::govern {
namespace {

// A run may end at any moment and is to have kept its bound then, so what is not known counts with so many
// standard errors whenever it is looked at (a repeated significance test: Armitage, McPherson and Rowe 1969).
// How far the found setting's mean is off goes as a Brownian path; one in a hundred such paths is ever
// further off before a thousand times as much was seen as in the baseline.
constexpr double kCaution = 3.5;
// Errors that are added up as if they were one are already taken for more than they are.
constexpr double kCautionAsOne = 3.2;

}  // namespace

plan::SpendingRules spending_rules(const Program& program, Errors errors) {
  const History& history = program.history();
  return {.caution = errors == Errors::as_one ? kCautionAsOne : kCaution,
          .common = history.time_error(history.work_at(program.belief().found())),
          .own_part = kOwnPart,
          .optimism = kOptimism};
}

bool pays_turn(const plan::CurveBelief& belief, const plan::Account& account, std::size_t setting,
               const plan::SpendingRules& rules) {
  const double turn = kTurn.value();
  const double lost = account.lost + turn * plan::most_lost(belief, setting, rules);
  return lost <= account.bound * (account.work + turn);
}

}  // namespace rubato::govern
