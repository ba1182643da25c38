#include "experiment/layers/switching.h"

#include <algorithm>

#include "predict/layers/board_power.h"

namespace rubato::experiment {
namespace {

// No figure is published. Drivers stop all traffic while they set and train the memory; a millisecond is
// assumed, well below a frame, since the change is made between two frames of a display.
constexpr Seconds kMemoryStall{1e-3};

}  // namespace

SwitchCosts published_switch_costs(const BoardFigures& board) {
  return {board.clock_latency.typical, kMemoryStall};
}

plan::Switching switching_of(std::span<const predict::Clocks> settings, const BoardFigures& board,
                             const DelayBetween& delay, Seconds memory_stall) {
  const std::size_t n = settings.size();
  plan::Switching out;
  out.most_per_second = plan::kMostRequestsPerSecond;
  out.stalled = predict::power_at(board, {board.sm_default, board.memory_default}, {});
  out.delay.resize(n * n);
  out.stall.resize(n * n);
  for (std::size_t from = 0; from < n; ++from)
    for (std::size_t to = 0; to < n; ++to) {
      if (from == to) continue;
      const Seconds there = delay(settings[from], settings[to]);
      out.delay[from * n + to] = there;
      out.dwell = std::max(out.dwell, there);
      if (settings[from].memory != settings[to].memory) out.stall[from * n + to] = memory_stall;
    }
  return out;
}

plan::Switching switching_of(std::span<const predict::Clocks> settings, const BoardFigures& board,
                             const SwitchCosts& costs) {
  return switching_of(
      settings, board, [&](const auto&, const auto&) { return costs.delay; }, costs.memory_stall);
}

}  // namespace rubato::experiment
