#include "predict/layers/ridges.h"

#include "predict/layers/layer_costs.h"

namespace rubato::predict {
namespace {

constexpr Reach kPeak{.dense = 1, .elementwise = 1, .memory = 1, .launch = Seconds(0)};

Result<RidgeAt> ridge_at(const BoardFigures& board, Precision precision, const Clocks& clocks) {
  RidgeAt out{clocks, 0, 0};
  for (const bool dense : {true, false}) {
    LayerDemand layer;
    layer.dense = dense;
    const auto ridge = layer_ridge(layer, precision, board, clocks, kPeak);
    if (!ridge) return fail(ridge.error());
    (dense ? out.dense : out.elementwise) = *ridge;
  }
  return out;
}

}  // namespace

Result<std::vector<RidgeRow>> ridges_of(const BoardFigures& board, Precision precision) {
  std::vector<RidgeRow> out;
  for (const BoardFigures::MemoryClock& row : board.clocks) {
    const auto& sm = row.sm_clocks;
    if (sm.empty()) continue;
    const auto lowest = ridge_at(board, precision, {sm.front(), row.clock});
    if (!lowest) return fail(lowest.error());
    const auto highest = ridge_at(board, precision, {sm.back(), row.clock});
    if (!highest) return fail(highest.error());
    RidgeRow ridges{row.clock, *lowest, {}, *highest};
    if (sm.front() <= board.sm_default && board.sm_default <= sm.back()) {
      const auto here = ridge_at(board, precision, {board.sm_default, row.clock});
      if (!here) return fail(here.error());
      ridges.by_default = *here;
    }
    out.push_back(ridges);
  }
  return out;
}

}  // namespace rubato::predict
