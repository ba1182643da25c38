// Several ways to cut one stretch into cycles, asked of the same readings: how much likelier do the other
// cycles make what each cycle shows? Traits of single leaders cannot be compared as well: each is followed on
// readings that are smoothed for its own length.
#pragma once

#include <vector>

#include "progress/period/cycle_tracker.h"

namespace rubato::progress {

struct Rival {
  const std::vector<Cycle>* cycles = nullptr;
  double length_s = 0;
};

struct Rivalry {
  /// Of each rival, the logarithm of the likelihood of the readings in its cycles over that of the same
  /// readings as noise around their mean: each reading is foretold by those at its phase in the other cycles,
  /// the less the fewer they are. What lies in no cycle counts nothing. Columns add up.
  std::vector<double> gain;
  /// over[i][j]: the same of rival i over rival j, of the readings that both hold in a cycle; 0 where there
  /// are none.
  std::vector<std::vector<double>> over;
};

/// `update_s`: readings nearer to each other tell no more than one.
[[nodiscard]] Rivalry rivalry_of(const Series& level, const std::vector<Rival>& rivals, double update_s);

}  // namespace rubato::progress
