// Small tables of segments, made up: by hand and by chance.
#pragma once

#include <cmath>
#include <limits>
#include <optional>

#include "base/random.h"
#include "base/text.h"
#include "plan/layers/iteration.h"
#include "plan/layers/strategy.h"

namespace rubato::plan {

/// costs: {seconds, joules} row by row, one row for each segment; the first setting is the default.
inline SegmentTable table_of(std::size_t settings, const std::vector<std::pair<double, double>>& costs) {
  SegmentTable table;
  for (std::size_t a = 0; a < settings; ++a)
    table.settings.push_back({Megahertz(1000.0 - 100.0 * static_cast<double>(a)), 5000_MHz});
  for (std::size_t i = 0; i * settings < costs.size(); ++i)
    table.segments.push_back({cat("layer", i), LayerPass::forward, 0, 0});
  for (const auto& [seconds, joules] : costs) table.costs.push_back({Seconds(seconds), Joules(joules)});
  return table;
}

/// 2 to 5 segments at 2 to 5 settings; lower settings are mostly slower and mostly take less.
inline SegmentTable random_table(Random& random) {
  const auto segments = 2 + random.index(4);
  const auto settings = 2 + random.index(4);
  std::vector<std::pair<double, double>> costs;
  for (std::size_t i = 0; i < segments; ++i) {
    const double length = random.uniform(0.2, 2);
    for (std::size_t a = 0; a < settings; ++a) {
      const double slower = 1 + 0.15 * static_cast<double>(a) * random.uniform(-0.1, 1.5);
      const double power = 200 - 30 * static_cast<double>(a) * random.uniform(0.2, 1.5);
      costs.emplace_back(length * slower, power * length * slower);
    }
  }
  return table_of(settings, costs);
}

inline Switching same_for_all(std::size_t settings, Seconds delay, Seconds stall, Seconds dwell) {
  return {.delay = std::vector<Seconds>(settings * settings, delay),
          .stall = std::vector<Seconds>(settings * settings, stall),
          .stalled = 60_W,
          .dwell = dwell};
}

/// Calls `look` with every way to give the segments their settings.
template <class Look>
void for_all_assignments(const SegmentTable& table, Look look) {
  std::vector<std::size_t> setting(table.segments.size(), 0);
  for (;;) {
    look(setting);
    std::size_t i = 0;
    while (i < setting.size() && ++setting[i] == table.settings.size()) setting[i++] = 0;
    if (i == setting.size()) return;
  }
}

/// The least energy, the host's in, that any assignment has inside the bound. Those whose iterations differ
/// from each other are no plan of one iteration and are left out.
inline double least_by_trying_all(const SegmentTable& table, const Switching& switching,
                                  const LayerGoal& goal) {
  const double budget = time_budget(table, goal.max_slowdown).value() * (1 + 1e-12);
  double least = std::numeric_limits<double>::infinity();
  for_all_assignments(table, [&](const std::vector<std::size_t>& setting) {
    const Iteration iteration = run_iteration(table, switching, setting);
    if (iteration.repeats && iteration.cost.time.value() <= budget)
      least = std::min(least, joules_with(iteration.cost, goal.host));
  });
  return least;
}

}  // namespace rubato::plan
