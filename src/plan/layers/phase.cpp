#include <algorithm>
#include <utility>

#include "base/text.h"
#include "plan/layers/iteration.h"
#include "plan/layers/price_search.h"
#include "plan/layers/strategies.h"

namespace rubato::plan {
namespace {

constexpr int kHalvings = 4;  // of the dwell: a sixteenth of the range
constexpr double kRateRounding = 1e-9;

std::string how_good(const PriceAnswer& answer, const char* of) {
  if (answer.closed) return cat("no plan ", of, " has less energy inside the bound");
  const double gap = answer.joules > 0 ? (answer.joules - answer.bound) / answer.joules : 0;
  return cat("no plan ", of, " has less energy by more than ", number(std::max(gap * 100, 0.0001), 4), " %");
}

/// With the dwell that it was made for.
struct Searched {
  PriceAnswer answer;
  Switching switching;
};

bool is_sent(const SegmentTable& table, const Searched& priced) {
  const double most = priced.switching.most_per_second;
  if (most <= 0) return true;
  const Iteration iteration = run_iteration(table, priced.switching, priced.answer.setting);
  return iteration.changes <= most * iteration.cost.time.value() * (1 + kRateRounding);
}

/// Where the least energy asks for more requests than are sent, the least of those found with a longer dwell:
/// one of 1 / `most_per_second` cannot ask for more.
Searched search_sent(const SegmentTable& table, const Switching& switching, const LayerGoal& goal,
                     const std::vector<bool>& may_change) {
  const std::size_t single = best_single(table, goal);
  const auto with_dwell = [&](Seconds dwell) {
    Searched out{{}, switching};
    out.switching.dwell = dwell;
    out.answer = search_by_price(table, out.switching, goal, may_change, single);
    return out;
  };
  Searched best = with_dwell(switching.dwell);
  if (is_sent(table, best)) return best;
  const double bound = best.answer.bound;
  // A change and the way back are two.
  if (time_budget(table, goal.max_slowdown).value() * switching.most_per_second < 2) {
    best.answer.setting.assign(table.segments.size(), single);
    best.answer.joules = joules_with(uniform_cost(table, single), goal.host);
    best.answer.closed = false;
    return best;
  }
  Seconds too_short = switching.dwell;
  Seconds long_enough(1 / switching.most_per_second);
  best = with_dwell(long_enough);
  for (int halving = 0; halving < kHalvings; ++halving) {
    Searched tried = with_dwell(0.5 * (too_short + long_enough));
    if (!is_sent(table, tried)) {
      too_short = tried.switching.dwell;
      continue;
    }
    long_enough = tried.switching.dwell;
    if (tried.answer.joules < best.answer.joules) best = std::move(tried);
  }
  best.answer.bound = bound;  // of all plans, those that ask for too many included
  best.answer.closed = false;
  return best;
}

std::vector<bool> begins_of_passes(const SegmentTable& table) {
  const std::size_t segments = table.segments.size();
  std::vector<bool> begins(segments);
  for (std::size_t i = 0; i < segments; ++i)
    begins[i] = table.segments[i].pass != table.segments[(i + segments - 1) % segments].pass;
  return begins;
}

SegmentPlan planned(const SegmentTable& table, const Searched& priced, const LayerGoal& goal,
                    std::string_view name, const char* of) {
  const PriceAnswer& answer = priced.answer;
  SegmentPlan plan = finished(table, priced.switching, name, answer.setting, how_good(answer, of));
  plan.refused = refused(table, priced.switching, answer.price + goal.host, answer.setting);
  return plan;
}

}  // namespace

Result<SegmentPlan> plan_by_pass(const SegmentTable& table, const Switching& switching,
                                 const LayerGoal& goal) {
  if (const Status fine = check_table(table, switching); !fine) return fail(fine.error());
  return planned(table, search_sent(table, switching, goal, begins_of_passes(table)), goal, "pass",
                 "that changes where a pass begins");
}

Result<SegmentPlan> plan_phases(const SegmentTable& table, const Switching& switching,
                                const LayerGoal& goal) {
  if (const Status fine = check_table(table, switching); !fine) return fail(fine.error());
  Searched best = search_sent(table, switching, goal, std::vector<bool>(table.segments.size(), true));
  // The search ends where its bound is near enough; fewer places to change at are searched more closely.
  if (Searched by_pass = search_sent(table, switching, goal, begins_of_passes(table));
      by_pass.answer.joules < best.answer.joules) {
    by_pass.answer.bound = best.answer.bound;
    by_pass.answer.closed = false;
    best = std::move(by_pass);
  }
  return planned(table, best, goal, "phase", "over these segments");
}

}  // namespace rubato::plan
