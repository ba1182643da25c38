// Clocks change the length of iterations: the levels it goes through, and which of them is stated.
#pragma once

#include <vector>

#include "progress/period/cycle_lengths.h"

namespace rubato::progress {

/// The steady median, s, of lengths in the order of time, one at least; where they go from level to level,
/// the length of the middle one of all iterations, in its level: what is stated is a length that occurs.
[[nodiscard]] double typical_length(const std::vector<TimedLength>& lengths);

}  // namespace rubato::progress
