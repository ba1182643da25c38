// How well a period folds the readings: what the other cycles foretell of each at the same phase, stretch by
// stretch (phase dispersion, Stellingwerf 1978, each value left out in turn). A multiple has fewer cycles to
// foretell from, and pays for it.
#pragma once

#include <vector>

#include "progress/period/events.h"

namespace rubato::progress {

/// Share of the variance that the other cycles of a stretch foretell; below 0 where they do worse than the
/// mean. Phases are told apart in bins of `bin_s`.
[[nodiscard]] double foretold(const std::vector<Events>& columns, double period_s, double stretch_s,
                              double bin_s);

}  // namespace rubato::progress
