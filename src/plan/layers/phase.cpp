#include <algorithm>

#include "base/text.h"
#include "plan/layers/iteration.h"
#include "plan/layers/price_search.h"
#include "plan/layers/strategies.h"

namespace rubato::plan {
namespace {

std::string how_good(const PriceAnswer& answer, const char* of) {
  if (answer.closed) return cat("no plan ", of, " has less energy inside the bound");
  const double gap = answer.joules > 0 ? (answer.joules - answer.bound) / answer.joules : 0;
  return cat("no plan ", of, " has less energy by more than ", number(std::max(gap * 100, 0.0001), 4), " %");
}

SegmentPlan with_price(const SegmentTable& table, const Switching& switching, const LayerGoal& goal,
                       std::string_view name, const std::vector<bool>& may_change, const char* of) {
  const PriceAnswer answer = search_by_price(table, switching, goal, may_change, best_single(table, goal));
  SegmentPlan plan = finished(table, switching, name, answer.setting, {});
  plan.refused = refused(table, switching, answer.price + goal.host, answer.setting);
  plan.why = how_good(answer, of);
  return plan;
}

}  // namespace

Result<SegmentPlan> plan_by_pass(const SegmentTable& table, const Switching& switching,
                                 const LayerGoal& goal) {
  if (const Status fine = check_table(table, switching); !fine) return fail(fine.error());
  const std::size_t segments = table.segments.size();
  std::vector<bool> begins(segments);
  for (std::size_t i = 0; i < segments; ++i)
    begins[i] = table.segments[i].pass != table.segments[(i + segments - 1) % segments].pass;
  return with_price(table, switching, goal, "pass", begins, "that changes where a pass begins");
}

Result<SegmentPlan> plan_phases(const SegmentTable& table, const Switching& switching,
                                const LayerGoal& goal) {
  if (const Status fine = check_table(table, switching); !fine) return fail(fine.error());
  return with_price(table, switching, goal, "phase", std::vector<bool>(table.segments.size(), true),
                    "over these segments");
}

}  // namespace rubato::plan
