// Times or powers that a table holds at the crossings of a few knob values, spread over every value the knobs
// can take.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace rubato::lab {

/// What the rows of a table are taken for.
enum class TruthKind {
  denoised,  // noisy readings of a cost that never turns: monotone regression first
  raw,       // the truth, as they stand
};

/// One knob: where rows are and where values are wanted, both ascending.
struct SurfaceAxis {
  std::vector<double> rows;
  std::vector<double> wanted;
};

/// `values` holds one number per crossing of the axes' rows, the last axis running fastest; so does the
/// result over the wanted values. Axis by axis a cubic that keeps the shape (no overshoot) goes through the
/// rows; `denoised` makes them rise (or fall) along every axis first, by isotonic regression along each axis
/// in turn until nothing moves.
[[nodiscard]] std::vector<double> spread(std::span<const SurfaceAxis> axes, std::vector<double> values,
                                         bool rising, TruthKind kind);

/// The first half of it alone: the values at the rows themselves, made monotone.
[[nodiscard]] std::vector<double> made_monotone(std::span<const SurfaceAxis> axes, std::vector<double> values,
                                                bool rising);

}  // namespace rubato::lab
