#include <algorithm>
#include <cmath>
#include <optional>

#include "base/text.h"
#include "plan/layers/iteration.h"
#include "plan/layers/strategies.h"

namespace rubato::plan {
namespace {

// Multiples of the ridge at the default clocks. Within a factor of two both units are busy for most of the
// time, and slowing either slows the layer.
constexpr double kComputeHeavy = 2.0;
constexpr double kMemoryBound = 0.5;
constexpr int kSteps = 16;

/// The setting nearest to these clocks, the memory clock first.
std::size_t nearest(const SegmentTable& table, double sm, double memory) {
  const auto away = [&](std::size_t a) {
    return std::pair(std::abs(table.settings[a].memory.value() - memory),
                     std::abs(table.settings[a].sm.value() - sm));
  };
  std::size_t best = table.at_default;
  for (std::size_t a = 0; a < table.settings.size(); ++a)
    if (away(a) < away(best)) best = a;
  return best;
}

struct Clock {
  double from = 0;    // the default
  double lowest = 0;  // of the settings
  [[nodiscard]] double at(int step) const { return from + (lowest - from) * step / kSteps; }
};

}  // namespace

Result<SegmentPlan> plan_by_intensity(const SegmentTable& table, const Switching& switching,
                                      const LayerGoal& goal) {
  if (const Status fine = check_table(table, switching); !fine) return fail(fine.error());
  const predict::Clocks usual = table.settings[table.at_default];
  Clock sm{usual.sm.value(), usual.sm.value()};
  Clock memory{usual.memory.value(), usual.memory.value()};
  for (const predict::Clocks& clocks : table.settings) {
    sm.lowest = std::min(sm.lowest, clocks.sm.value());
    memory.lowest = std::min(memory.lowest, clocks.memory.value());
  }
  const Seconds budget = time_budget(table, goal.max_slowdown) * (1 + 1e-12);
  std::size_t compute_heavy = 0;
  std::size_t memory_bound = 0;
  for (const Segment& segment : table.segments) {
    if (segment.ridge > 0 && segment.intensity >= kComputeHeavy * segment.ridge) ++compute_heavy;
    if (segment.ridge > 0 && segment.intensity <= kMemoryBound * segment.ridge) ++memory_bound;
  }
  // The rule names no clocks: as low as the bound allows, both alike.
  for (int step = kSteps; step > 0; --step) {
    const std::size_t for_compute = nearest(table, usual.sm.value(), memory.at(step));
    const std::size_t for_memory = nearest(table, sm.at(step), usual.memory.value());
    std::vector<std::size_t> setting;
    for (const Segment& segment : table.segments) {
      std::size_t chosen = table.at_default;
      if (segment.ridge > 0 && segment.intensity >= kComputeHeavy * segment.ridge) chosen = for_compute;
      if (segment.ridge > 0 && segment.intensity <= kMemoryBound * segment.ridge) chosen = for_memory;
      setting.push_back(chosen);
    }
    const predict::Clocks low{table.settings[for_memory].sm, table.settings[for_compute].memory};
    SegmentPlan plan = finished(
        table, switching, "arithmetic-intensity", std::move(setting),
        cat(compute_heavy, " layers at twice the ridge or more get memory at ", low.memory, ", ",
            memory_bound, " at half of it or less get SMs at ", low.sm, ", the others the default clocks"));
    if (plan.time <= budget) return plan;
  }
  return finished(table, switching, "arithmetic-intensity",
                  std::vector(table.segments.size(), table.at_default),
                  "every step of the rule breaks the bound: the default clocks stay");
}

}  // namespace rubato::plan
