#include "govern/rubato/one_price.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "plan/lower_hull.h"

namespace rubato::govern {
namespace {

struct Point {
  double lost = 0;   // s per second at the found setting
  double watts = 0;  // J per second there
};

struct Step {
  std::size_t claim = 0;
  double lost = 0;
  double seconds = 0;
  double joules = 0;  // saved by it
};

std::vector<Point> hull_of(const Claim& claim, const Goal& goal) {
  const plan::CurveBelief& belief = *claim.belief;
  std::vector<Point> points{{0, claim.board.value()}};
  for (std::size_t i = 0; i < belief.size(); ++i) {
    const double ratio = plan::objective_ratio(belief, i, goal, claim.board) -
                         claim.rules.optimism * belief.log_energy_deviation(i);
    if (ratio < 1)
      points.push_back({std::max(plan::most_lost(belief, i, claim.rules), 0.0), claim.board.value() * ratio});
  }
  return plan::lower_hull(std::move(points), &Point::lost, &Point::watts);
}

/// Watts saved where so much may be lost.
double saved(std::span<const Point> hull, double lost) {
  double out = hull.front().watts;
  for (std::size_t i = 1; i < hull.size() && hull[i - 1].lost < lost; ++i) {
    const double part = std::min((lost - hull[i - 1].lost) / (hull[i].lost - hull[i - 1].lost), 1.0);
    out = hull[i - 1].watts + part * (hull[i].watts - hull[i - 1].watts);
  }
  return hull.front().watts - out;
}

}  // namespace

Given at_one_price(std::span<const Claim> claims, std::size_t which, double allowed, const Goal& goal) {
  std::vector<Step> steps;
  std::vector<double> lost;
  double left = 0;
  double joules = 0;
  double seconds = 0;
  double gain = 0;
  for (std::size_t c = 0; c < claims.size(); ++c) {
    const double weight = claims[c].seconds;
    const auto hull = hull_of(claims[c], goal);
    lost.push_back(hull.front().lost);
    left += (allowed - hull.front().lost) * weight;
    joules += claims[c].board.value() * weight;
    seconds += weight;
    gain -= saved(hull, allowed) * weight;
    for (std::size_t i = 1; i < hull.size(); ++i) {
      const double more = hull[i].lost - hull[i - 1].lost;
      steps.push_back({c, more, more * weight, (hull[i - 1].watts - hull[i].watts) * weight});
    }
  }
  std::stable_sort(steps.begin(), steps.end(),
                   [](const Step& a, const Step& b) { return a.joules * b.seconds > b.joules * a.seconds; });
  double price = 0;  // J/s
  for (const Step& step : steps) {
    if (left <= 0) break;
    const double part = std::min(left / step.seconds, 1.0);
    price = step.joules / step.seconds;
    lost[step.claim] += part * step.lost;
    gain += part * step.joules;
    left -= step.seconds;
  }
  double kept = 0;
  for (std::size_t c = 0; c < claims.size(); ++c) {
    const double turn =
        claims[c].away.value() * claims[c].seconds / std::max(seconds - claims[c].seconds, 1.0);
    kept = std::max(kept, turn * (allowed - lost[c]));
  }
  return {.lost = lost[which],
          .gain = gain / joules,
          .made_good = Seconds(gain > 0 ? kept * price * seconds / gain : 0)};
}

}  // namespace rubato::govern
