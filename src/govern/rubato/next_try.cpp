#include "govern/rubato/next_try.h"

#include <algorithm>
#include <cmath>

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
  const Eigen::VectorXd gains = belief.expected_gains(bound, saved, host_share);
  std::optional<Try> best;
  for (std::size_t i = 0; i < belief.size(); ++i) {
    if (i == belief.found() || history.measured(i)) continue;
    const double gain = gains[static_cast<Eigen::Index>(i)];
    if (best && gain <= best->gain) continue;
    if (belief.holds(i, far) < kSure) continue;
    best = {i, belief.holds(i, bound), 1 - plan::objective_ratio(belief, i, goal, board), gain};
  }
  if (!best || best->gain < std::max(kLeastGain, kWorthTrying * saved)) return std::nullopt;
  return best;
}

}  // namespace rubato::govern
