// What one iteration consists of: pieces of work in order, each with its length, its power and its hunger for
// clocks.
#pragma once

#include <vector>

#include "base/random.h"

namespace rubato::period_truth {

struct Piece {
  double seconds = 0;
  double level = 0;          // of the board's span from idle to highest power
  double busy = 1;           // share of the time in which a kernel runs
  double memory = 0;         // the same for its memory
  double compute_share = 0;  // of its time scales with 1 / clock (roofline)
};
using Recipe = std::vector<Piece>;

[[nodiscard]] double seconds_of(const Recipe& recipe);
[[nodiscard]] Recipe scaled_to(Recipe recipe, double seconds);
[[nodiscard]] Recipe joined(Recipe first, const Recipe& second);

/// Any work: kernels of unlike lengths, or layers forward and backward.
[[nodiscard]] Recipe draw_recipe(double seconds, Random& random);
/// `count` times the same, then an exchange of gradients and an optimizer step.
[[nodiscard]] Recipe draw_micro_batches(double seconds, int count, Random& random);
/// Nearly constant, with one or two shallow dips.
[[nodiscard]] Recipe draw_low_contrast(double seconds, Random& random);
/// One piece, length open.
[[nodiscard]] Piece draw_piece(Random& random);

}  // namespace rubato::period_truth
