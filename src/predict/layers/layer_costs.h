// Time and power of a layer over pairs of clocks: the roofline with what is reached of it, and the board's
// physical curves. Modelled, from figures of the board's model; nothing here was measured on the board at
// hand.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/board_figures.h"
#include "core/layer_demand.h"
#include "predict/roofline/roofline.h"

namespace rubato::predict {

/// What holds a layer up: its launches are latency.
enum class LayerBound { compute, memory, latency };
[[nodiscard]] std::string_view name_of(LayerBound bound);

/// Shares of the roofs that real kernels reach, and what a launch costs; sources in docs/layer-costs.md.
struct Reach {
  double dense = 0;
  double elementwise = 0;
  double memory = 0;
  Seconds launch;
};
[[nodiscard]] const Reach& published_reach();

struct LayerCost {
  Seconds time;
  Watts power;
  LayerBound bound = LayerBound::memory;
};

/// Pairs compute can run at, ascending by memory clock, then SM clock. Without a memory lock: the default
/// memory clock alone. `most` thins the SM clocks evenly, ends and default kept; 0: all.
[[nodiscard]] std::vector<Clocks> legal_clocks(const BoardFigures& board, bool memory_clocks,
                                               std::size_t most = 0);

[[nodiscard]] Result<LayerCost> layer_cost(const LayerDemand& layer, Precision precision,
                                           const BoardFigures& board, const Clocks& clocks,
                                           const Reach& reach = published_reach());

/// Operations for each byte at which this layer's pipe and the memory take equally long at these clocks, both
/// at what is reached of them. Errors as layer_cost().
[[nodiscard]] Result<double> layer_ridge(const LayerDemand& layer, Precision precision,
                                         const BoardFigures& board, const Clocks& clocks,
                                         const Reach& reach = published_reach());

}  // namespace rubato::predict
