// How clocks are chosen for the segments of an iteration: by name, under a bound on its time.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "plan/layers/segments.h"

namespace rubato::plan {

struct LayerGoal {
  double max_slowdown = 0.05;  // of the iteration at the default setting
  Watts host;                  // draws on while the job takes longer: in every joule that is made small
};

struct LayerStrategy {
  std::string_view name;  // "arithmetic-intensity", "exhaustive", "pass", "phase", "single"
  std::string_view description;
  /// Whatever it believes of switching, the plan's time and energy are with `switching` counted (cost_of).
  /// unavailable: no plan of its kind keeps the bound.
  Result<SegmentPlan> (*plan)(const SegmentTable& table, const Switching& switching, const LayerGoal& goal);
};

[[nodiscard]] std::span<const LayerStrategy> layer_strategies();
/// not_found lists the names.
[[nodiscard]] Result<const LayerStrategy*> find_layer_strategy(std::string_view name);

/// One iteration in steady state with these settings, every change, tail and stall counted.
[[nodiscard]] SegmentCost cost_of(const SegmentTable& table, const Switching& switching,
                                  std::span<const std::size_t> setting);

}  // namespace rubato::plan
