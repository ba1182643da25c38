// All cycles of a stretch at once: the chain of places where the mean cycle fits best, at about one period
// from each other (as beats are found in music: Ellis 2007, "Beat tracking by dynamic programming"). The mean
// is taken anew of the chain it led to, so that many noisy cycles show what a single one does not.
#pragma once

#include <cstddef>
#include <vector>

#include "progress/period/series.h"

namespace rubato::progress {

struct ChainMark {
  double at = 0;        // in grid steps
  double alike = 0;     // to the mean cycle: 2 a b / (a a + b b)
  bool paused = false;  // something else lies between the mark before and this one
};

/// In order of time. `anchors`: places in the middle of cycles that are alike, each at least half a period
/// from both ends: the one whose chain holds most is gone on from. `period` in grid steps, a first guess
/// within some percent; `update`: between two values that can differ, 0 where all do. The chain may pass over
/// what fits nowhere, as stalls and pauses are, up to twelve periods at a time.
[[nodiscard]] std::vector<ChainMark> chain_of_cycles(const Series& series,
                                                     const std::vector<std::size_t>& anchors, double period,
                                                     double update);

}  // namespace rubato::progress
