// How well a row can be predicted at all: from every other row of its own workload. What a model misses by
// less than this is noise of the table and the coarseness of its steps.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "predict/curve.h"

namespace rubato::experiment {

/// Mean absolute errors as fractions; absent where no row has two others on a line with it.
struct NoiseFloor {
  std::optional<double> time;
  std::optional<double> energy;
  // Of the rows that lie between others; the rest are extrapolated, which costs more than noise.
  std::optional<double> time_between;
  std::optional<double> energy_between;
};

/// Each non-default row is left out in turn. Along a knob, log time falls and log power rises (isotonic
/// regression); between the points the curve is a monotone cubic (Fritsch and Carlson 1980), beyond them it
/// goes on straight. Over several knobs: the mean of the lines on which the row lies between others, or else
/// of all its lines.
[[nodiscard]] NoiseFloor noise_floor(std::span<const predict::Curve> curves);

/// What the other rows of a workload say of one of them.
struct FloorGuess {
  double log_time = 0;  // over the default's, as measured
  double log_energy = 0;
  bool between = false;  // the row lies between others
};
/// One for each row; nothing for the default and where no line of others leads there.
[[nodiscard]] std::vector<std::optional<FloorGuess>> floor_guesses(const predict::Curve& curve);

}  // namespace rubato::experiment
