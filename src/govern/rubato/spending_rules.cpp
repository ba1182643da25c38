#include "govern/rubato/spending_rules.h"

#include <algorithm>
#include <cmath>

namespace rubato::govern {
namespace {

// A run may end at any moment and is to have kept its bound then. What is spent is therefore bounded for all
// moments together: the boundary of a normal mixture (Robbins 1970; Howard et al. 2021, section 3), with this
// chance that a run is ever over its bound.
constexpr double kChance = 0.01;

}  // namespace

plan::SpendingRules spending_rules(const Program& program) {
  const History& history = program.history();
  const double found = history.work_at(program.belief().found());
  const double seen = found / std::max(program.baseline().work, 1.0);
  return {.caution = std::sqrt(2 * std::log(1 / kChance) + std::log1p(seen)),
          .common = history.time_error(found),
          .own_part = kOwnPart,
          .optimism = kOptimism};
}

bool pays_turn(const Program& program, const plan::Account& account, std::size_t setting) {
  const double turn = kTurn.value();
  const double lost =
      account.lost + turn * plan::most_lost(program.belief(), setting, spending_rules(program));
  return lost <= account.bound * (account.work + turn);
}

}  // namespace rubato::govern
