#include "plan/spending.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace rubato::plan {
namespace {

// A pair of which one member would lose this many times the bound is no even run any more.
constexpr double kMostOverBound = 3;

struct Option {
  std::size_t setting;
  double lost;
  double objective;
};

}  // namespace

double most_lost(const CurveBelief& belief, std::size_t i, const SpendingRules& rules) {
  if (i == belief.found()) return 0;
  const double all = belief.log_time_deviation(i);
  const double common = std::min(all, rules.common);
  const double own = std::sqrt(all * all - common * common);
  return std::expm1(belief.log_time(i) + rules.caution * (common + rules.own_part * own));
}

double objective_ratio(const CurveBelief& belief, std::size_t i, const Goal& goal, Watts board) {
  const double share = share_of_time(goal, board);
  const double time = belief.time(i);
  const double energy = (1 - share) * belief.energy(i) + share * time;
  switch (goal.objective) {
    case Objective::energy:
    case Objective::cost:
      return energy;
    case Objective::edp:
      return energy * time;
    case Objective::ed2p:
      return energy * time * time;
    case Objective::time:
      return time;
  }
  return energy;
}

Spending spend(const CurveBelief& belief, const Goal& goal, Watts board, const Account& account,
               const SpendingRules& rules) {
  const double allowed = account.allowed();
  std::vector<Option> cheap;
  std::vector<Option> dear;
  for (std::size_t i = 0; i < belief.size(); ++i) {
    if (rules.may != nullptr && !(*rules.may)(i)) continue;
    const Option option{
        i, most_lost(belief, i, rules),
        objective_ratio(belief, i, goal, board) - rules.optimism * belief.log_energy_deviation(i)};
    if (option.lost <= allowed)
      cheap.push_back(option);
    else if (option.lost < kMostOverBound * std::max(account.bound, 0.01))
      dear.push_back(option);
  }
  Spending out{.setting = belief.found(), .share = {}, .objective = 1};
  double best = 1;
  for (const Option& o : cheap)
    if (o.objective < best) {
      best = o.objective;
      out.setting = o.setting;
    }
  out.objective = objective_ratio(belief, out.setting, goal, board);
  if (!adds_up(goal.objective)) return out;
  cheap.push_back({belief.found(), 0, 1});
  double pair = best;
  for (const Option& a : cheap)
    for (const Option& b : dear) {
      if (b.objective >= a.objective) continue;
      const double part = (allowed - a.lost) / (b.lost - a.lost);
      if (part <= 0) continue;
      const double shared = a.objective + part * (b.objective - a.objective);
      if (shared >= pair) continue;
      pair = shared;
      const double one = belief.log_energy_deviation(out.setting);
      const double first = (1 - part) * belief.log_energy_deviation(a.setting);
      const double second = part * belief.log_energy_deviation(b.setting);
      out.share = {a.setting, b.setting, part, best - shared,
                   std::sqrt(one * one + first * first + second * second)};
    }
  return out;
}

}  // namespace rubato::plan
