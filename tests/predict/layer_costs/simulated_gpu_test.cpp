// The costs of layers and the simulated GPU share their figures, so this checks arithmetic, not truth.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "device/registry.h"
#include "device/sim/physics.h"
#include "device/sim/progress.h"
#include "predict/layers/layer_costs.h"

namespace rubato::predict {
namespace {

namespace sim = device::sim;

const sim::Profile& profile(const char* name) {
  return **sim::find_profile(name);
}

std::uint32_t index_of(const std::vector<Megahertz>& clocks, Megahertz clock) {
  return static_cast<std::uint32_t>(std::lower_bound(clocks.begin(), clocks.end(), clock) - clocks.begin());
}

// What the simulated GPU does with a segment of the same length in each unit at the same clocks, as warm as
// drawing its limit makes it.
LayerCost simulated(const sim::Profile& board, const LayerCost& compute, const LayerCost& memory,
                    const Clocks& clocks) {
  sim::Segment segment;
  segment.compute_s = compute.time.value() * board.compute_rate * (clocks.sm / board.sm_reference);
  segment.memory_s = memory.time.value() * board.memory_rate * (clocks.memory / board.memory_reference);
  segment.memory_activity = published_reach().memory;
  const auto state = std::make_unique<sim::GpuState>();
  sim::start_gpu(*state, board, {.now = TimePoint{1}});
  state->contexts[0].id = 1;
  state->contexts[0].submitted = 1;
  state->contexts[0].segment_count = 1;
  state->contexts[0].segments[0] = segment;
  state->sm_index = index_of(board.sm_clocks, clocks.sm);
  state->memory_index = index_of(board.memory_clocks, clocks.memory);
  state->temperature_c = board.ambient.value() + board.thermal_c_per_w * board.limit_default.value();
  const sim::SegmentRun run = sim::run_of(segment, board, clocks.sm.value(), clocks.memory.value());
  return {Seconds(run.seconds), sim::activity(*state, board).power, LayerBound::compute};
}

TEST(LayerCostsOnTheSimulatedGpu, TimeAndPowerAreThoseOfTheSameSegment) {
  for (const char* name : {"rtxa4000", "rtx2000-ada-laptop"}) {
    const sim::Profile& board = profile(name);
    BoardFigures figures = *device::board_figures_of(board.board);
    figures.limit = Watts(1000);  // the limiter is another matter
    LayerDemand compute;
    compute.dense = true;
    compute.operations = 1e11;
    LayerDemand memory;
    memory.bytes_read = 1e9;
    LayerDemand both = compute;
    both.bytes_read = memory.bytes_read;
    for (const Clocks& clocks : legal_clocks(figures, true, 7)) {
      const auto cost_of = [&](const LayerDemand& layer) {
        return layer_cost(layer, Precision::fp32, figures, clocks).value();
      };
      const LayerCost ours = cost_of(both);
      const LayerCost theirs = simulated(board, cost_of(compute), cost_of(memory), clocks);
      EXPECT_NEAR(ours.time / theirs.time, 1, 1e-6) << name << clocks.sm.value();
      EXPECT_NEAR(ours.power / theirs.power, 1, 1e-3)
          << name << ' ' << clocks.sm.value() << ' ' << clocks.memory.value();
    }
  }
}

TEST(BoardFiguresOfAProfile, AreItsOwnAtTheTemperatureOfItsDefaultLimit) {
  const BoardFigures board = device::board_figures_of("NVIDIA RTX A4000").value();
  EXPECT_EQ(board.profile, "rtxa4000");
  EXPECT_EQ(board.limit, 140_W);
  // 25 C + 0.36 C/W x 140 W = 75.4 C: 40.4 C above the reference at 0.5 W/C; four steps of boost lost.
  EXPECT_NEAR(board.leakage.value(), 20.2, 1e-9);
  EXPECT_EQ(board.sm_default, 1860_MHz);
  EXPECT_EQ(board.memory_default, 7001_MHz);
  ASSERT_EQ(board.clocks.size(), 5U);
  EXPECT_EQ(board.clocks[0].sm_clocks.back(), 420_MHz);
  EXPECT_EQ(board.clocks[4].sm_clocks.back(), 2100_MHz);
  EXPECT_EQ(board.clock_latency.typical, 30_ms);
  EXPECT_FALSE(device::board_figures_of("a board nobody knows"));
}

TEST(BoardFiguresOfAProfile, CarryPlansOnEveryBoardThatHasItsPeakRates) {
  std::size_t with = 0;
  for (const sim::ProfileSummary& summary : sim::list_profiles()) {
    const BoardFigures board = device::board_figures_of(summary.board).value();
    if (!peak_rates(board.peaks)) continue;
    ++with;
    LayerDemand layer;
    layer.operations = 1e9;
    const Clocks at_default{board.sm_default, board.memory_default};
    const auto cost = layer_cost(layer, Precision::fp32, board, at_default);
    ASSERT_TRUE(cost) << summary.name << ": " << cost.error().what;
    EXPECT_LE(cost->power, board.limit + 0.01_W) << summary.name;
    const auto clocks = legal_clocks(board, true);
    EXPECT_NE(std::find(clocks.begin(), clocks.end(), at_default), clocks.end()) << summary.name;
  }
  EXPECT_GE(with, 10U);
}

}  // namespace
}  // namespace rubato::predict
