// A network's demands and a board's figures as what a plan over layers chooses from. Modelled.
#pragma once

#include <cstddef>

#include "base/result.h"
#include "core/board_figures.h"
#include "core/layer_demand.h"
#include "plan/layers/segments.h"
#include "predict/layers/layer_costs.h"

namespace rubato::experiment {

struct SegmentChoice {
  bool memory_clocks = false;      // choose those too, where the board has a lock for them
  std::size_t most_sm_clocks = 0;  // of each memory clock, evenly spread, ends and default kept; 0: all
};

/// One segment for each layer and pass, in order. Where a setting's mean power over all segments is above the
/// board's limit, the SM clock is lowered for all of them alike: a limiter averages over many layers
/// (hundreds of milliseconds), so it does not act on one.
[[nodiscard]] Result<plan::SegmentTable> segment_table(
    const NetworkDemands& demands, const BoardFigures& board, const SegmentChoice& choice = {},
    const predict::Reach& reach = predict::published_reach());

/// Whose limit never acts: it is kept in the mean by the clocks chosen.
[[nodiscard]] BoardFigures without_limit(BoardFigures board);

/// What a board comes to over the whole of an iteration where these clocks are asked for: there its limit is
/// kept in the mean, as above.
[[nodiscard]] Result<predict::Clocks> clocks_in_force(
    const NetworkDemands& demands, const BoardFigures& board, const predict::Clocks& asked,
    const predict::Reach& reach = predict::published_reach());

/// The forward pass of a training alone: batch normalisation by the batch's own statistics, and dropouts, are
/// in it.
[[nodiscard]] NetworkDemands forward_of(const NetworkDemands& demands);

}  // namespace rubato::experiment
