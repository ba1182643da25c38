// How well a row can be predicted at all: from every other row of its own workload. What a model misses by
// less than this is noise of the table and the coarseness of its steps.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

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

}  // namespace rubato::experiment
