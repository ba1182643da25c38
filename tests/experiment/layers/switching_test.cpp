#include "experiment/layers/switching.h"

#include <gtest/gtest.h>

#include "experiment/latency/latency_file.h"
#include "predict/layer_costs/made_board.h"

namespace rubato::experiment {
namespace {

using predict::Clocks;

const std::vector<Clocks> kSettings = {{1000_MHz, 2500_MHz}, {1000_MHz, 5000_MHz}, {2000_MHz, 5000_MHz}};

TEST(SwitchingOf, PublishedFiguresGiveOneDelayAndStallWhereTheMemoryClockChanges) {
  const BoardFigures board = predict::made_board();
  const SwitchCosts costs = published_switch_costs(board);
  EXPECT_EQ(costs.delay, 30_ms);
  const plan::Switching switching = switching_of(kSettings, board, costs);
  EXPECT_EQ(switching.delay_of(0, 2, 3), 30_ms);
  EXPECT_EQ(switching.delay_of(1, 1, 3), 0_s);
  EXPECT_EQ(switching.stall_of(0, 1, 3), costs.memory_stall);
  EXPECT_EQ(switching.stall_of(1, 2, 3), 0_s);
  EXPECT_EQ(switching.dwell, 30_ms);
  // 1500 MHz at 0.75 V: idle 10, leakage 16 x 0.75^2, clock tree 5 x 1.5 x (0.75 / 0.5)^2, memory 8.
  EXPECT_NEAR(switching.stalled.value(), 10 + 9 + 16.875 + 8, 1e-9);
}

TEST(SwitchingOf, MeasuredDelaysAreTakenByPair) {
  LatencyTable measured;
  const auto pair = [](Clocks from, Clocks to, Seconds median) {
    return PairLatency{.from = from, .to = to, .clock = DelaySummary{median, median, median, 5, 0}};
  };
  measured.pairs = {pair(kSettings[1], kSettings[2], 8_ms), pair(kSettings[2], kSettings[1], 12_ms)};
  const plan::Switching switching = switching_of(kSettings, predict::made_board(), measured);
  EXPECT_EQ(switching.delay_of(1, 2, 3), 8_ms);
  EXPECT_EQ(switching.delay_of(2, 1, 3), 12_ms);
  EXPECT_EQ(switching.dwell, 12_ms);
}

}  // namespace
}  // namespace rubato::experiment
