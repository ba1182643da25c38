#include "experiment/layers/segment_table.h"

#include <gtest/gtest.h>

#include "predict/layer_costs/made_board.h"

namespace rubato::experiment {
namespace {

NetworkDemands made_network() {
  NetworkDemands out;
  out.network = "made";
  out.batch = 1;
  out.layers = {predict::made_dense(4), predict::made_stream(1)};
  out.layers[1].pass = LayerPass::backward;
  return out;
}

TEST(SegmentTable, HasARowForEachLayerAndAColumnForEachPairOfClocks) {
  const auto table = segment_table(made_network(), predict::made_board(), {.memory_clocks = true}).value();
  ASSERT_EQ(table.segments.size(), 2U);
  ASSERT_EQ(table.settings.size(), 6U);
  ASSERT_EQ(table.costs.size(), 12U);
  EXPECT_EQ(table.segments[1].name, "stream");
  EXPECT_EQ(table.segments[1].pass, LayerPass::backward);
  EXPECT_EQ(table.settings[table.at_default], (predict::Clocks{1500_MHz, 5000_MHz}));
  // 1000 MHz at 5000 MHz memory, where made_board's powers hold (tests/predict/layer_costs).
  ASSERT_EQ(table.settings[3], (predict::Clocks{1000_MHz, 5000_MHz}));
  EXPECT_NEAR(table.cost(0, 3).time.value(), 4e-3, 1e-12);
  EXPECT_NEAR(table.cost(0, 3).energy.value(), 4e-3 * 107, 1e-9);
}

TEST(SegmentTable, TheLimitActsOnTheMeanOfAllSegments) {
  BoardFigures board = predict::made_board();
  const auto power = [](const plan::SegmentTable& table, std::size_t setting) {
    const auto a = table.cost(0, setting);
    const auto b = table.cost(1, setting);
    return (a.energy + b.energy) / (a.time + b.time);
  };
  const auto free = segment_table(made_network(), board).value();
  // The default alone is above 150 W, in the mean; the dense layer by itself is above it at 1000 MHz already
  // with a limit of 100 W.
  board.limit = 150_W;
  const auto held = segment_table(made_network(), board).value();
  const std::size_t top = held.at_default;
  EXPECT_GT(power(free, top), 150_W);
  EXPECT_NEAR(power(held, top).value(), 150, 0.1);
  EXPECT_GT(held.cost(0, top).energy / held.cost(0, top).time, 150_W);
  EXPECT_GT(held.cost(0, top).time, free.cost(0, top).time);
  EXPECT_EQ(held.cost(1, top).time, free.cost(1, top).time);
  EXPECT_EQ(held.cost(0, 1).time, free.cost(0, 1).time);  // 1000 MHz fits
}

TEST(SegmentTable, RefusesProfilesWithHolesAndNetworksWithoutLayers) {
  BoardFigures board = predict::made_board();
  board.peaks.sm_count.reset();
  const auto holes = segment_table(made_network(), board);
  ASSERT_FALSE(holes);
  EXPECT_NE(holes.error().what.find("sm_count"), std::string::npos);
  EXPECT_EQ(segment_table({.network = "empty"}, predict::made_board()).error().what,
            "network 'empty' has no layers");
}

TEST(SegmentTable, TheForwardPassAloneLeavesTheOthersOut) {
  const NetworkDemands forward = forward_of(made_network());
  ASSERT_EQ(forward.layers.size(), 1U);
  EXPECT_EQ(forward.layers[0].layer, "dense");
}

}  // namespace
}  // namespace rubato::experiment
