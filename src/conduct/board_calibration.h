// A GPU board's gain against another meter: a straight line through what both told while the load varied.
// Pure function over a run record.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "base/units.h"
#include "measure/lag.h"

namespace rubato::conduct {

struct BoardFit {
  // meter = base + slope * board, over means of `window` each.
  double slope = 1;
  double slope_band = 0;  // half width, 95 %
  Watts base;  // what the meter sees besides the board; of a meter that sees the board alone, its offset
  double r_squared = 0;
  Watts residual;  // standard deviation
  Watts lowest;    // of the board, of these means
  Watts highest;
  std::size_t windows = 0;
  Seconds window;
  measure::Lag lag;
  /// What the board tells for each watt the meter sees.
  [[nodiscard]] double gain() const { return 1.0 / slope; }
};

struct BoardFitLimits {
  Seconds shortest_window{2.0};
  std::size_t least_windows = 10;
  double least_range = 0.20;  // of the board's highest limit
  double least_r_squared = 0.98;
};

/// Errors: unavailable where the two cannot be aligned, the board's power moved too little, or the line does
/// not fit; each with the figure found and the one needed, and what to do.
[[nodiscard]] Result<BoardFit> fit_board(std::span<const measure::PowerAt> board,
                                         std::span<const measure::PowerAt> meter, Watts highest_limit,
                                         const BoardFitLimits& limits = {});

}  // namespace rubato::conduct
