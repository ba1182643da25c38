#include "plan/reached.h"

#include <algorithm>
#include <vector>

#include "plan/curve_belief.h"
#include "plan/lower_hull.h"
#include "plan/spending.h"

namespace rubato::plan {
namespace {

struct Point {
  double lost;
  double objective;
};

}  // namespace

Reached reached(const CurveBelief& belief, const Goal& goal, Watts board, double allowed,
                std::span<const std::size_t> settings, bool may_share) {
  Reached out;
  out.allowed = allowed;
  out.shares = may_share && adds_up(goal.objective);
  std::vector<Point> points{{0, 1}};
  for (const std::size_t i : settings)
    if (i != belief.found()) points.push_back({belief.time(i) - 1, objective_ratio(belief, i, goal, board)});
  if (!out.shares) {
    for (const Point& p : points)
      if (p.lost <= allowed) out.saving = std::max(out.saving, 1 - p.objective);
    return out;
  }
  const std::vector<Point> hull = lower_hull(std::move(points), &Point::lost, &Point::objective);
  std::size_t next = 1;
  while (next < hull.size() && hull[next].lost <= allowed) ++next;
  out.faster = hull[next - 1].lost;
  out.saving = 1 - hull[next - 1].objective;
  if (next == hull.size()) return out;
  out.slower = hull[next].lost;
  out.price = (hull[next - 1].objective - hull[next].objective) / (out.slower - hull[next - 1].lost);
  return out;
}

}  // namespace rubato::plan
