#include "lab/score.h"

#include <algorithm>

namespace rubato::lab {
namespace {

// Rounding of sums over a run, not slack.
constexpr double kRounding = 1e-9;

}  // namespace

Score score(std::span<const Row> rows, double max_slowdown) {
  Score out;
  const auto n = static_cast<double>(rows.size());
  double settled_after = 0;
  out.slowdown_max = rows.front().run.slowdown;
  for (const Row& row : rows) {
    const Replayed& run = row.run;
    out.saving += run.saving / n;
    out.fixed_oracle_saving += row.oracles.fixed.saving / n;
    out.mixed_oracle_saving += row.oracles.mixed.saving / n;
    out.slowdown += run.slowdown / n;
    out.slowdown_max = std::max(out.slowdown_max, run.slowdown);
    if (run.worst_running_slowdown)
      out.worst_running_slowdown = std::max(out.worst_running_slowdown.value_or(*run.worst_running_slowdown),
                                            *run.worst_running_slowdown);
    const double over = run.slowdown - max_slowdown;
    if (over > kRounding) {
      ++out.bound_violations;
      out.excess += over / n;
    }
    out.settings_tried += static_cast<double>(run.settings_tried) / n;
    out.settings_rechecked += static_cast<double>(run.settings_rechecked) / n;
    out.changes += static_cast<double>(run.changes) / n;
    if (run.settled_after) {
      ++out.settled;
      settled_after += static_cast<double>(*run.settled_after);
    }
  }
  if (out.fixed_oracle_saving > 0) out.captured = out.saving / out.fixed_oracle_saving;
  if (out.mixed_oracle_saving > 0) out.captured_of_mixed = out.saving / out.mixed_oracle_saving;
  if (out.settled > 0) out.settled_after = settled_after / static_cast<double>(out.settled);
  return out;
}

}  // namespace rubato::lab
