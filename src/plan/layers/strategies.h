// The strategies themselves; strategy.h finds them by name.
#pragma once

#include <vector>

#include "plan/layers/strategy.h"

namespace rubato::plan {

[[nodiscard]] Result<SegmentPlan> plan_single(const SegmentTable& table, const Switching& switching,
                                              const LayerGoal& goal);
[[nodiscard]] Result<SegmentPlan> plan_by_intensity(const SegmentTable& table, const Switching& switching,
                                                    const LayerGoal& goal);
[[nodiscard]] Result<SegmentPlan> plan_exhaustive(const SegmentTable& table, const Switching& switching,
                                                  const LayerGoal& goal);
[[nodiscard]] Result<SegmentPlan> plan_by_pass(const SegmentTable& table, const Switching& switching,
                                               const LayerGoal& goal);
[[nodiscard]] Result<SegmentPlan> plan_phases(const SegmentTable& table, const Switching& switching,
                                              const LayerGoal& goal);

/// The setting of least energy, the host's in, inside the bound.
[[nodiscard]] std::size_t best_single(const SegmentTable& table, const LayerGoal& goal);

/// What the plan costs is counted here, for every strategy alike.
[[nodiscard]] SegmentPlan finished(const SegmentTable& table, const Switching& switching,
                                   std::string_view strategy, std::vector<std::size_t> setting,
                                   std::string why);

/// What free switching would do at this price of a second (the host's in) that the plan does not, because the
/// stretches are too short.
[[nodiscard]] SegmentPlan::Refused refused(const SegmentTable& table, const Switching& switching, Watts price,
                                           const std::vector<std::size_t>& setting);

}  // namespace rubato::plan
