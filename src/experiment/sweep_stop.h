// Settings that need not be measured any more: beyond the bound, or beyond an optimum that has been
// bracketed.
#pragma once

#include <optional>
#include <string>

#include "experiment/sweep_summary.h"

namespace rubato::experiment {

/// Why `at` cannot matter, given what is measured; absent: it may. Rests on two things measured GPUs do: work
/// takes no less time where a knob stands lower and the others the same, and once energy rises again towards
/// lower values, it does not fall below what it was. Both are taken as seen only where a whole 90 % interval
/// says so.
[[nodiscard]] std::optional<std::string> why_skip(const predict::KnobPoint& at, const SweepSummary& summary,
                                                  std::optional<double> max_slowdown);

}  // namespace rubato::experiment
