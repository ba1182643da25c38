// The settings of a sweep worth naming: the optima, the best inside a bound, the front where each step faster
// costs joules.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "experiment/sweep_summary.h"

namespace rubato::experiment {

/// One of SweepSummary::settings, and those the sweep cannot tell from it (the 90 % interval of the
/// quotient of the two holds 1).
struct Best {
  std::size_t setting = 0;
  std::vector<std::size_t> as_good;
};

struct BestInside {
  std::size_t setting = 0;
  bool surely = false;  // the whole interval of its slowdown lies inside the bound
};

struct SweepChoices {
  Best energy;
  Best edp;
  Best time;
  std::optional<BestInside> inside;  // of least energy; absent: no bound was given
  std::vector<std::size_t> front;    // by time: nothing measured is both faster and cheaper
};

[[nodiscard]] SweepChoices choices_of(const SweepSummary& summary, std::optional<double> max_slowdown);

}  // namespace rubato::experiment
