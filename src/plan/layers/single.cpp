#include <limits>

#include "base/text.h"
#include "plan/layers/iteration.h"
#include "plan/layers/strategies.h"

namespace rubato::plan {

std::size_t best_single(const SegmentTable& table, const LayerGoal& goal) {
  const double budget = time_budget(table, goal.max_slowdown).value() * (1 + 1e-12);
  std::size_t best = table.at_default;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t a = 0; a < table.settings.size(); ++a) {
    const SegmentCost cost = uniform_cost(table, a);
    const double joules = joules_with(cost, goal.host);
    if (cost.time.value() > budget || !(joules < least)) continue;
    least = joules;
    best = a;
  }
  return best;
}

Result<SegmentPlan> plan_single(const SegmentTable& table, const Switching& switching,
                                const LayerGoal& goal) {
  if (const Status fine = check_table(table, switching); !fine) return fail(fine.error());
  const std::size_t best = best_single(table, goal);
  return finished(
      table, switching, "single", std::vector(table.segments.size(), best),
      cat("the least energy that one setting of ", table.settings.size(), " has inside the bound"));
}

}  // namespace rubato::plan
