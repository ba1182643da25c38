// Cycles that were followed, laid on each other: whether they are one and the same, whether only each second
// or third is, and whether a half or a third of them would do. Stalls and changing lengths do not blur it, as
// they blur a comparison at one lag.
#pragma once

#include <cstddef>
#include <vector>

#include "progress/period/cycle_tracker.h"

namespace rubato::progress {

/// Logarithms are natural. All 0 where fewer than three cycles can be laid on each other.
struct CycleFold {
  double explained = 0;  // share of the variance that the mean cycle holds; what cycles add by chance is off
  /// Logarithm of 1 and the energy in the mean cycle's harmonics that 2 (3; 2, 3 or 5, the least) does not
  /// divide, over the noise left in that mean: how surely half a cycle is not the cycle.
  double no_half = 0;
  double no_third = 0;
  double no_part = 0;
  /// The same over the noise of one update, for eight cycles: as the traces' judge asks for it.
  double shown = 0;
  /// Squares between neighbours, less those between cycles two (three; four to twelve, the most) apart, over
  /// the former; and the first over its standard error.
  double by_twos = 0;
  double by_twos_z = 0;
  double by_threes = 0;
  double by_threes_z = 0;
  double by_more_z = 0;
};

/// Of the columns `first` to `last` - 1 of a level whose slow part is taken off; of the latest 96 cycles.
/// `update_s`: two values nearer to each other tell no more than one.
[[nodiscard]] CycleFold fold_cycles(const Series& level, const std::vector<Cycle>& cycles, std::size_t first,
                                    std::size_t last, double update_s);

}  // namespace rubato::progress
