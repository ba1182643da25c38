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
  // What may not be tried needs no gain.
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < belief.size(); ++i)
    if (i != belief.found() && !history.measured(i) && belief.holds_with(i, far, kSure)) open.push_back(i);
  const Eigen::VectorXd gains = belief.expected_gains(open, bound, saved, host_share);
  std::optional<Try> best;
  for (std::size_t k = 0; k < open.size(); ++k) {
    const double gain = gains[static_cast<Eigen::Index>(k)];
    if (best && gain <= best->gain) continue;
    best = {open[k], belief.holds(open[k], bound), 1 - plan::objective_ratio(belief, open[k], goal, board),
            gain};
  }
  if (!best || best->gain < std::max(kLeastGain, kWorthTrying * saved)) return std::nullopt;
  return best;
}

}  // namespace rubato::govern
