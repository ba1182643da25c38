#include "experiment/layers/segment_table.h"

#include <algorithm>

#include "base/text.h"
#include "predict/layers/board_power.h"

namespace rubato::experiment {
namespace {

using predict::Clocks;

class Costs {
 public:
  Costs(const NetworkDemands& demands, const BoardFigures& board, const predict::Reach& reach)
      : demands_(demands), board_(without_limit(board)), limit_(board.limit), reach_(reach) {}

  Result<std::vector<plan::SegmentCost>> at(const Clocks& clocks) const {
    std::vector<plan::SegmentCost> out;
    out.reserve(demands_.layers.size());
    for (const LayerDemand& layer : demands_.layers) {
      const auto cost = predict::layer_cost(layer, demands_.precision, board_, clocks, reach_);
      if (!cost) return fail(cost.error());
      out.push_back({cost->time, cost->power * cost->time});
    }
    return out;
  }

  bool fits(const std::vector<plan::SegmentCost>& costs) const {
    Seconds time;
    Joules energy;
    for (const plan::SegmentCost& cost : costs) {
      time += cost.time;
      energy += cost.energy;
    }
    return energy <= limit_ * time;
  }

  Result<std::vector<plan::SegmentCost>> limited(const Clocks& asked, Megahertz lowest) const {
    const auto reached = in_force(asked, lowest);
    if (!reached) return fail(reached.error());
    return at(*reached);
  }

  Result<Clocks> in_force(const Clocks& asked, Megahertz lowest) const {
    const auto costs = at(asked);
    if (!costs) return fail(costs.error());
    if (fits(*costs)) return asked;
    Megahertz low = std::min(lowest, asked.sm);
    Megahertz high = asked.sm;
    while (high - low > Megahertz(0.1)) {
      const Megahertz middle = (low + high) / 2.0;
      (fits(*at({middle, asked.memory})) ? low : high) = middle;
    }
    return Clocks{low, asked.memory};
  }

 private:
  const NetworkDemands& demands_;
  BoardFigures board_;
  Watts limit_;
  predict::Reach reach_;
};

}  // namespace

Result<plan::SegmentTable> segment_table(const NetworkDemands& demands, const BoardFigures& board,
                                         const SegmentChoice& choice, const predict::Reach& reach) {
  if (auto complete = predict::check_figures(board); !complete) return fail(std::move(complete.error()));
  if (demands.layers.empty())
    return fail(ErrorCode::invalid_argument, cat("network '", demands.network, "' has no layers"),
                "see it with `rubato layers show`");
  plan::SegmentTable table;
  table.settings = predict::legal_clocks(board, choice.memory_clocks, choice.most_sm_clocks);
  const auto at_default =
      std::find(table.settings.begin(), table.settings.end(), Clocks{board.sm_default, board.memory_default});
  if (at_default == table.settings.end())
    return fail(ErrorCode::not_supported,
                cat("the default of '", board.profile, "', ", board.sm_default, " at ", board.memory_default,
                    " memory, is none of its legal clocks"),
                "correct its profile in gpus/");
  table.at_default = static_cast<std::size_t>(at_default - table.settings.begin());
  for (const LayerDemand& layer : demands.layers) {
    const auto ridge = predict::layer_ridge(layer, demands.precision, board, *at_default, reach);
    if (!ridge) return fail(ridge.error());
    table.segments.push_back({layer.layer, layer.pass, layer.operations > 0 ? layer.intensity() : 0, *ridge});
  }
  table.costs.resize(table.segments.size() * table.settings.size());
  const Costs costs(demands, board, reach);
  for (std::size_t s = 0; s < table.settings.size(); ++s) {
    const auto first = std::find_if(table.settings.begin(), table.settings.end(),
                                    [&](const Clocks& c) { return c.memory == table.settings[s].memory; });
    const auto column = costs.limited(table.settings[s], first->sm);
    if (!column) return fail(column.error());
    for (std::size_t i = 0; i < column->size(); ++i)
      table.costs[i * table.settings.size() + s] = (*column)[i];
  }
  return table;
}

BoardFigures without_limit(BoardFigures board) {
  board.limit = Watts(1e9);
  return board;
}

Result<Clocks> clocks_in_force(const NetworkDemands& demands, const BoardFigures& board, const Clocks& asked,
                               const predict::Reach& reach) {
  const auto legal = predict::legal_clocks(board, true, 0);
  Megahertz lowest = asked.sm;
  for (const Clocks& clocks : legal)
    if (clocks.memory == asked.memory) lowest = std::min(lowest, clocks.sm);
  return Costs(demands, board, reach).in_force(asked, lowest);
}

NetworkDemands forward_of(const NetworkDemands& demands) {
  NetworkDemands out = demands;
  std::erase_if(out.layers, [](const LayerDemand& layer) { return layer.pass != LayerPass::forward; });
  return out;
}

}  // namespace rubato::experiment
