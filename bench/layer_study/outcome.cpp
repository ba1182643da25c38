#include "layer_study/outcome.h"

#include <cstdio>
#include <cstdlib>

namespace rubato::layer_study {

std::optional<Outcome> outcome_of(const plan::LayerStrategy& strategy, const plan::SegmentTable& table,
                                  const plan::Switching& switching, const plan::LayerGoal& goal) {
  const auto plan = strategy.plan(table, switching, goal);
  if (plan) return Outcome{{plan->time, plan->energy}, plan->setting, plan->changes, plan->dwell};
  if (plan.error().code != ErrorCode::unavailable) {
    std::fprintf(stderr, "%.*s: %s\n", static_cast<int>(strategy.name.size()), strategy.name.data(),
                 plan.error().what.c_str());
    std::exit(1);
  }
  return std::nullopt;
}

Outcomes outcomes_of(const plan::SegmentTable& table, const plan::Switching& delayed,
                     const plan::LayerGoal& goal) {
  Outcomes out;
  const std::vector<std::size_t> at_default(table.segments.size(), table.at_default);
  out.at_default = plan::cost_of(table, {}, at_default);
  for (const plan::LayerStrategy& strategy : plan::layer_strategies()) {
    const auto ideal = outcome_of(strategy, table, {}, goal);
    if (strategy.name == "single")
      out.single = ideal ? ideal->cost : out.at_default;
    else
      out.rows.push_back({std::string(strategy.name), ideal, outcome_of(strategy, table, delayed, goal)});
  }
  return out;
}

double saved(Joules now, Joules before) {
  return 1 - now / before;
}

double slower(Seconds now, Seconds before) {
  return now / before - 1;
}

double edp_saved(const plan::SegmentCost& now, const plan::SegmentCost& before) {
  return 1 - (now.energy / before.energy) * (now.time / before.time);
}

}  // namespace rubato::layer_study
