#include "plan/layers/strategy.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "plan/layers/iteration.h"
#include "plan/layers/strategies.h"

namespace rubato::plan {
namespace {

constexpr std::array kStrategies = {
    LayerStrategy{"single", "one setting for the whole iteration: the best inside the bound", &plan_single},
    LayerStrategy{"arithmetic-intensity",
                  "by rule: layers far above the ridge get a low memory clock, far below it a low SM clock",
                  &plan_by_intensity},
    LayerStrategy{"exhaustive", "for every layer by itself the pair of least energy inside the bound",
                  &plan_exhaustive},
    LayerStrategy{"pass", "one setting for each pass, under one budget of time", &plan_by_pass},
    LayerStrategy{"phase", "one price of a second for all layers, with switching counted", &plan_phases},
};

}  // namespace

std::span<const LayerStrategy> layer_strategies() {
  return kStrategies;
}

Result<const LayerStrategy*> find_layer_strategy(std::string_view name) {
  const auto* found = std::find_if(kStrategies.begin(), kStrategies.end(),
                                   [&](const LayerStrategy& s) { return s.name == name; });
  if (found != kStrategies.end()) return found;
  std::string names;
  for (const LayerStrategy& s : kStrategies) names += cat(names.empty() ? "" : ", ", s.name);
  return fail(ErrorCode::not_found, cat("there is no strategy '", name, "' for layers"),
              cat("use one of ", names));
}

SegmentPlan finished(const SegmentTable& table, const Switching& switching, std::string_view strategy,
                     std::vector<std::size_t> setting, std::string why) {
  const Iteration iteration = run_iteration(table, switching, setting);
  return {.strategy = std::string(strategy),
          .setting = std::move(setting),
          .time = iteration.cost.time,
          .energy = iteration.cost.energy,
          .changes = iteration.changes,
          .dwell = switching.dwell,
          .why = std::move(why),
          .refused = {}};
}

}  // namespace rubato::plan
