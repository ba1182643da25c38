// The lowest harmonics of a period against what lies between them. A cycle that is no whole number of
// readings looks different every time: after 12.5 of them only each second looks alike. But what such
// sampling adds between the harmonics is folded from far above, and so is least at the lowest of them, where
// a real alternation has most.
#pragma once

#include "progress/period/series.h"

namespace rubato::progress {

/// Natural logarithms of ratios of energies, medians over stretches of twelve periods; kUnknownOvertones
/// where there is not half of one.
inline constexpr double kUnknownOvertones = -12;
struct Overtones {
  double half = kUnknownOvertones;   // at 1/2 and 3/2 of the frequency, over its first four harmonics
  double third = kUnknownOvertones;  // at 1/3 and 2/3
  /// At the lowest two harmonics that two (three) do not divide, over the first six: little where half (a
  /// third) of the period is the period.
  double no_half = kUnknownOvertones;
  double no_third = kUnknownOvertones;
};

/// All columns together, as they are scaled; `level` is on the readings' own grid or one of whole multiples.
[[nodiscard]] Overtones overtones_of(const Series& level, double period_s);

}  // namespace rubato::progress
