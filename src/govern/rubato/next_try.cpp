#include "govern/rubato/next_try.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "plan/spending.h"

namespace rubato::govern {
namespace {

// What one more try must be expected to gain: a share of what the best setting measured saves, and never less
// than is lost in the noise of a run.
constexpr double kWorthTrying = 0.04;
constexpr double kLeastGain = 0.002;
// A try may cost this much beyond the bound, but hardly ever more.
constexpr double kFarOver = 0.10;
constexpr double kSure = 0.9;

}  // namespace

std::optional<Try> next_try(const plan::CurveBelief& belief, const History& history, const Goal& goal,
                            Watts board) {
  const double bound = std::log1p(goal.max_slowdown);
  const double far = std::log1p(goal.max_slowdown + kFarOver);
  const double host_share = share_of_time(goal, board);
  double saved = 0;
  for (std::size_t i = 0; i < belief.size(); ++i)
    if (history.measured(i))
      saved = std::max(saved, belief.holds(i, bound) * (1 - plan::objective_ratio(belief, i, goal, board)));
  const Eigen::VectorXd gains =
      belief.expected_gains(bound, saved, host_share, delay_exponent(goal.objective));
  const auto gain = [&](std::size_t i) { return gains[static_cast<Eigen::Index>(i)]; };
  const double least = std::max(kLeastGain, kWorthTrying * saved);
  std::vector<std::size_t> worth;
  for (std::size_t i = 0; i < belief.size(); ++i)
    if (i != belief.found() && !history.measured(i) && gain(i) >= least) worth.push_back(i);
  std::stable_sort(worth.begin(), worth.end(),
                   [&](std::size_t a, std::size_t b) { return gain(a) > gain(b); });
  // Whether a setting holds a bound is dear to ask.
  const auto best =
      std::find_if(worth.begin(), worth.end(), [&](std::size_t i) { return belief.holds(i, far) >= kSure; });
  if (best == worth.end()) return std::nullopt;
  return Try{*best, belief.holds(*best, bound), 1 - plan::objective_ratio(belief, *best, goal, board),
             gain(*best)};
}

}  // namespace rubato::govern
