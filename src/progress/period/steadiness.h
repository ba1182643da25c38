// How well the cycles followed tell their length: how far off their median may be, and whether they get
// longer.
#pragma once

#include <optional>
#include <vector>

#include "progress/period/cycle_tracker.h"

namespace rubato::progress {

/// Half the width in which the true median lies 95 times in 100, as a fraction of it; absent for fewer than
/// three. `update_s`: no mark is placed better than to some part of it.
[[nodiscard]] std::optional<double> half_width_of(const std::vector<Cycle>& cycles, double update_s);

/// Relative change of length per minute; absent where it might be chance, or one change of clock.
[[nodiscard]] std::optional<double> drift_of(const std::vector<Cycle>& cycles);

}  // namespace rubato::progress
