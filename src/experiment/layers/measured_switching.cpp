#include "experiment/latency/latency_file.h"
#include "experiment/layers/switching.h"

namespace rubato::experiment {

plan::Switching switching_of(std::span<const predict::Clocks> settings, const BoardFigures& board,
                             const LatencyTable& measured) {
  const auto delay = [&](const predict::Clocks& from, const predict::Clocks& to) {
    return typical_delay(measured, from, to).delay;
  };
  return switching_of(settings, board, delay, published_switch_costs(board).memory_stall);
}

}  // namespace rubato::experiment
