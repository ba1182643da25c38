// What strategies make of one table of segments: against the default and against the best single setting.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/layers/segments.h"
#include "plan/layers/strategy.h"

namespace rubato::layer_study {

struct Outcome {
  plan::SegmentCost cost;
  std::vector<std::size_t> setting;  // of each segment
  double changes = 0;                // in one iteration
  Seconds dwell;                     // that it was made for
};

struct Row {
  std::string strategy;
  std::optional<Outcome> ideal;    // clocks change at once and for nothing
  std::optional<Outcome> delayed;  // as long as the switching given takes
};

struct Outcomes {
  plan::SegmentCost at_default;
  plan::SegmentCost single;  // the best one inside the bound; it needs no switching
  std::vector<Row> rows;     // the strategies that switch
};

[[nodiscard]] Outcomes outcomes_of(const plan::SegmentTable& table, const plan::Switching& delayed,
                                   const plan::LayerGoal& goal);
/// Absent: no plan of its kind keeps the bound.
[[nodiscard]] std::optional<Outcome> outcome_of(const plan::LayerStrategy& strategy,
                                                const plan::SegmentTable& table,
                                                const plan::Switching& switching,
                                                const plan::LayerGoal& goal);

/// 0.02: two percent less.
[[nodiscard]] double saved(Joules now, Joules before);
[[nodiscard]] double slower(Seconds now, Seconds before);
[[nodiscard]] double edp_saved(const plan::SegmentCost& now, const plan::SegmentCost& before);

}  // namespace rubato::layer_study
