#include <limits>

#include "base/text.h"
#include "plan/layers/iteration.h"
#include "plan/layers/strategies.h"

namespace rubato::plan {
namespace {

// Steps in which the slowdown allowed to each layer is taken back where switching eats it up.
constexpr int kSteps = 16;

std::size_t best_of_segment(const SegmentTable& table, std::size_t segment, const LayerGoal& goal,
                            double slowdown) {
  const double most = table.cost(segment, table.at_default).time.value() * (1 + slowdown) * (1 + 1e-12);
  std::size_t best = table.at_default;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t a = 0; a < table.settings.size(); ++a) {
    const SegmentCost& cost = table.cost(segment, a);
    const double joules = joules_with(cost, goal.host);
    if (cost.time.value() > most || !(joules < least)) continue;
    least = joules;
    best = a;
  }
  return best;
}

}  // namespace

Result<SegmentPlan> plan_exhaustive(const SegmentTable& table, const Switching& switching,
                                    const LayerGoal& goal) {
  if (const Status fine = check_table(table, switching); !fine) return fail(fine.error());
  const Seconds budget = time_budget(table, goal.max_slowdown) * (1 + 1e-12);
  for (int step = kSteps; step >= 0; --step) {
    const double slowdown = goal.max_slowdown * step / kSteps;
    std::vector<std::size_t> setting;
    for (std::size_t i = 0; i < table.segments.size(); ++i)
      setting.push_back(best_of_segment(table, i, goal, slowdown));
    SegmentPlan plan = finished(
        table, switching, "exhaustive", std::move(setting),
        step == kSteps ? "for each layer the pair of least energy inside the bound"
                       : cat("for each layer the pair of least energy within ", number(slowdown * 100, 2),
                             " %: with more, switching breaks the bound"));
    if (plan.time <= budget) return plan;
  }
  return fail(ErrorCode::unavailable,
              "the best pair of each layer breaks the bound by switching alone, whatever each may lose",
              "use --strategy phase, which counts switching, or allow more with --max-slowdown");
}

}  // namespace rubato::plan
