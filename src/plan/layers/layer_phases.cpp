#include <algorithm>

#include "base/text.h"
#include "plan/layers/iteration.h"
#include "plan/layers/layer_plan.h"

namespace rubato::plan {
namespace {

bool begins_pass(const SegmentTable& table, std::size_t segment) {
  return segment == 0 || table.segments[segment - 1].pass != table.segments[segment].pass;
}

}  // namespace

Result<std::vector<PlannedPhase>> phases_of(const SegmentTable& table, const Switching& switching,
                                            const SegmentPlan& plan) {
  Switching made_for = switching;
  made_for.dwell = std::max(switching.dwell, plan.dwell);
  const Iteration iteration = run_iteration(table, made_for, plan.setting);
  if (!iteration.repeats)
    return fail(ErrorCode::unavailable,
                cat("by strategy ", plan.strategy, " requests fall on other layers in each iteration: ",
                    "switching takes ", switching.dwell, " and more, and is asked for more often"),
                "use --strategy phase, which counts switching");
  std::vector<Request> begins = iteration.requests;
  // What the last request set holds on until the next iteration's first.
  if (begins.empty() || begins.front().segment > 0)
    begins.insert(begins.begin(), {0, begins.empty() ? plan.setting.back() : begins.back().setting, {}, {}});
  std::vector<PlannedPhase> out;
  for (std::size_t k = 0; k < begins.size(); ++k) {
    const bool last = k + 1 == begins.size();
    const std::size_t end = last ? table.segments.size() : begins[k + 1].segment;
    const SegmentCost until = last ? iteration.cost : SegmentCost{begins[k + 1].after, begins[k + 1].spent};
    out.push_back({.first = table.segments[begins[k].segment].name,
                   .last = table.segments[end - 1].name,
                   .pass = table.segments[begins[k].segment].pass,
                   .clocks = table.settings[begins[k].setting],
                   .duration = until.time - begins[k].after,
                   .energy = until.energy - begins[k].spent,
                   .begins_pass = begins_pass(table, begins[k].segment)});
  }
  return out;
}

}  // namespace rubato::plan
