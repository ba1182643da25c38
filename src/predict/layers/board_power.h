// Power of a board at a pair of clocks, by the curves of its figures: idle and leakage, clock tree and
// compute with f V^2, memory with its own clock, transport of its bytes with V^2.
#pragma once

#include "base/result.h"
#include "core/board_figures.h"
#include "predict/roofline/roofline.h"

namespace rubato::predict {

/// Shares of the time in which a pipe is active and of the memory's peak bandwidth at its present clock.
struct Load {
  double compute = 0;
  double traffic = 0;
};

[[nodiscard]] double volts_at(const BoardFigures& board, Megahertz sm);
/// Whatever the board's limit says. No load: clocks up, nothing to do.
[[nodiscard]] Watts power_at(const BoardFigures& board, const Clocks& clocks, const Load& load);

/// not_supported names the figure the board's profile lacks.
[[nodiscard]] Status check_figures(const BoardFigures& board);

}  // namespace rubato::predict
