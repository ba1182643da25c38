// The ridge of a board's roofline at its clocks: the operations for each byte at which compute and memory
// take equally long, both at the peak of the data sheet.
#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "core/board_figures.h"
#include "core/layer_demand.h"
#include "predict/roofline/roofline.h"

namespace rubato::predict {

struct RidgeAt {
  Clocks clocks;
  double dense = 0;        // of the pipe that matrix products of this precision use
  double elementwise = 0;  // of the single-precision pipe
};

struct RidgeRow {
  Megahertz memory;
  RidgeAt lowest;                     // SM clock that is legal with it
  std::optional<RidgeAt> by_default;  // absent where the default SM clock is not legal with it
  RidgeAt highest;
};

/// One row for each memory clock compute can run at. Errors as layer_cost().
[[nodiscard]] Result<std::vector<RidgeRow>> ridges_of(const BoardFigures& board, Precision precision);

}  // namespace rubato::predict
