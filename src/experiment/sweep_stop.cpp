#include "experiment/sweep_stop.h"

#include "base/text.h"
#include "experiment/sweep_grid.h"

namespace rubato::experiment {
namespace {

/// No knob of `low` is higher than `high`'s; both set the same knobs, as all settings of a grid do.
bool nowhere_above(const predict::KnobPoint& low, const predict::KnobPoint& high) {
  return (!low.power_limit || low.power_limit <= high.power_limit) &&
         (!low.sm_clock || low.sm_clock <= high.sm_clock) &&
         (!low.memory_clock || low.memory_clock <= high.memory_clock);
}

int knobs_apart(const predict::KnobPoint& a, const predict::KnobPoint& b) {
  return (a.power_limit != b.power_limit ? 1 : 0) + (a.sm_clock != b.sm_clock ? 1 : 0) +
         (a.memory_clock != b.memory_clock ? 1 : 0);
}

/// `high` on the same line of the grid surely takes less energy than `low` does.
bool rises_towards(const SweptSetting& low, const SweptSetting& high) {
  const auto& least = low.energy_over_default.low;
  if (high.is_default()) return least && *least > 1.0;
  const auto& most = high.energy_over_default.high;
  return least && most && *least > *most;
}

}  // namespace

std::optional<std::string> why_skip(const predict::KnobPoint& at, const SweepSummary& summary,
                                    std::optional<double> max_slowdown) {
  for (const SweptSetting& low : summary.settings) {
    if (low.is_default() || !nowhere_above(at, low.at) || at == low.at) continue;
    const auto& least = low.time_over_default.low;
    if (max_slowdown && least && *least > 1 + *max_slowdown)
      return cat(describe(low.at), " already takes ", number((*least - 1) * 100, 1), " % longer or more");
    if (knobs_apart(at, low.at) != 1) continue;
    for (const SweptSetting& high : summary.settings) {
      const bool same_line =
          high.is_default() || (nowhere_above(low.at, high.at) && high.at != low.at &&
                                knobs_apart(low.at, high.at) == 1 && knobs_apart(at, high.at) == 1);
      if (same_line && rises_towards(low, high))
        return cat("energy rises again from ", describe(high.at), " to ", describe(low.at));
    }
  }
  return std::nullopt;
}

}  // namespace rubato::experiment
