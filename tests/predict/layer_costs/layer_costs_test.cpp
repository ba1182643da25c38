#include "predict/layers/layer_costs.h"

#include <gtest/gtest.h>

#include <limits>

#include "predict/layer_costs/made_board.h"
#include "predict/layers/board_power.h"

namespace rubato::predict {
namespace {

constexpr Clocks kReference{Megahertz(1000), Megahertz(5000)};
constexpr Reach kReach{.dense = 0.75, .elementwise = 0.5, .memory = 0.85, .launch = Seconds(3e-6)};

LayerCost cost(const LayerDemand& layer, const Clocks& clocks, const BoardFigures& board = made_board(),
               Precision precision = Precision::fp32) {
  return layer_cost(layer, precision, board, clocks, kReach).value();
}

double ms(const LayerCost& cost) {
  return cost.time.value() * 1e3;
}

TEST(LayerCosts, ADenseLayerLastsItsOperationsOverTheReachedRoofAndFollowsTheSmClock) {
  const LayerDemand layer = made_dense(2);
  EXPECT_NEAR(ms(cost(layer, kReference)), 2, 1e-9);
  EXPECT_EQ(cost(layer, kReference).bound, LayerBound::compute);
  EXPECT_NEAR(ms(cost(layer, {Megahertz(500), Megahertz(5000)})), 4, 1e-9);
  EXPECT_NEAR(ms(cost(layer, {Megahertz(1000), Megahertz(2500)})), 2, 1e-9);
}

TEST(LayerCosts, AStreamingLayerFollowsTheMemoryClockAlone) {
  const LayerDemand layer = made_stream(1);
  EXPECT_NEAR(ms(cost(layer, kReference)), 1, 1e-9);
  EXPECT_EQ(cost(layer, kReference).bound, LayerBound::memory);
  EXPECT_NEAR(ms(cost(layer, {Megahertz(500), Megahertz(5000)})), 1, 1e-9);
  EXPECT_NEAR(ms(cost(layer, {Megahertz(1000), Megahertz(2500)})), 2, 1e-9);
}

TEST(LayerCosts, TheBoundChangesHandsAtTheRidge) {
  LayerDemand layer = made_dense(1);
  layer.bytes_written = made_stream(1.5).bytes_read;
  EXPECT_EQ(cost(layer, kReference).bound, LayerBound::memory);
  EXPECT_EQ(cost(layer, {Megahertz(500), Megahertz(5000)}).bound, LayerBound::compute);
}

TEST(LayerCosts, TheRidgeIsTheIntensityAtWhichBothTakeEquallyLong) {
  LayerDemand layer = made_dense(1);
  layer.bytes_written = made_stream(1).bytes_read;
  EXPECT_NEAR(layer_ridge(layer, Precision::fp32, made_board(), kReference, kReach).value(),
              layer.intensity(), 1e-9);
  EXPECT_NEAR(
      layer_ridge(layer, Precision::fp32, made_board(), {Megahertz(500), Megahertz(5000)}, kReach).value(),
      layer.intensity() / 2, 1e-9);
}

TEST(LayerCosts, ASmallLayerLastsItsLaunches) {
  LayerDemand layer = made_stream(0.001);
  layer.kernels = 2;
  EXPECT_NEAR(ms(cost(layer, kReference)), 0.006, 1e-12);
  EXPECT_EQ(cost(layer, kReference).bound, LayerBound::latency);
  layer.kernels = 0;
  layer.bytes_read = 0;
  EXPECT_EQ(cost(layer, kReference).time, 0_s);
}

TEST(LayerCosts, PrecisionChoosesThePipe) {
  // Half precision: 512 multiply-adds an SM and clock for 128; tf32 half of that.
  const LayerDemand layer = made_dense(4);
  EXPECT_NEAR(ms(cost(layer, kReference, made_board(), Precision::fp16)), 1, 1e-9);
  EXPECT_NEAR(ms(cost(layer, kReference, made_board(), Precision::tf32)), 2, 1e-9);
  BoardFigures volta = made_board();
  volta.peaks.compute_major = 7;
  volta.peaks.compute_minor = 0;  // 64 for 128, and no tf32
  EXPECT_NEAR(ms(cost(layer, kReference, volta, Precision::tf32)), 8, 1e-9);
  const auto refused = layer_cost(layer, Precision::bf16, volta, kReference, kReach);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::not_supported);
  EXPECT_NE(refused.error().what.find("needs 8.0"), std::string::npos) << refused.error().what;
}

TEST(LayerCosts, PowerIsTheSumOfItsPartsAtTheReferenceClocks) {
  // idle 10, leakage 16 at a quarter of the highest V^2, clock tree 5, compute 80, memory 8.
  EXPECT_NEAR(cost(made_dense(1), kReference).power.value(), 10 + 4 + 5 + 80 + 8, 1e-9);
  // No compute; traffic 20 and transport 4 at 0.85 of the bandwidth.
  EXPECT_NEAR(cost(made_stream(1), kReference).power.value(), 10 + 4 + 5 + 8 + 24 * 0.85, 1e-9);
}

TEST(LayerCosts, PowerFollowsClockAndVoltage) {
  // 2000 MHz at twice the voltage: clock tree and compute eightfold, leakage at its highest, memory as it
  // was.
  EXPECT_NEAR(cost(made_dense(1), {Megahertz(2000), Megahertz(5000)}).power.value(), 10 + 16 + 85 * 8 + 8,
              1e-9);
  EXPECT_NEAR(cost(made_dense(1), {Megahertz(1000), Megahertz(2500)}).power.value(), 10 + 4 + 85 + 4, 1e-9);
  EXPECT_DOUBLE_EQ(volts_at(made_board(), Megahertz(1500)), 0.75);
  EXPECT_DOUBLE_EQ(volts_at(made_board(), Megahertz(200)), 0.5);
  EXPECT_DOUBLE_EQ(volts_at(made_board(), Megahertz(3000)), 1.0);
}

TEST(LayerCosts, AboveItsLimitTheBoardWalksItsClockDownAndTheLayerLastsLonger) {
  BoardFigures board = made_board();
  board.limit = Watts(200);
  const LayerCost held = cost(made_dense(1), {Megahertz(2000), Megahertz(5000)}, board);
  EXPECT_NEAR(held.power.value(), 200, 0.01);
  EXPECT_GT(ms(held), 0.5);
  EXPECT_LT(ms(held), 1);
}

TEST(LayerCosts, WhereTheLowestClockIsStillAboveTheLimitTheBoardStaysThere) {
  BoardFigures board = made_board();
  board.limit = Watts(20);
  const LayerCost held = cost(made_dense(1), {Megahertz(2000), Megahertz(5000)}, board);
  EXPECT_NEAR(ms(held), 2, 1e-6);
  EXPECT_GT(held.power, Watts(20));
}

TEST(LayerCosts, AProfileWithHolesIsRefusedByTheNamesOfTheFigures) {
  BoardFigures board = made_board();
  board.peaks.memory_bus_bits.reset();
  board.voltage.clear();
  const auto refused = layer_cost(made_dense(1), Precision::fp32, board, kReference, kReach);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::not_supported);
  EXPECT_EQ(refused.error().what, "the profile of 'made' has no memory_bus_bits, voltage");
}

TEST(LayerCosts, NonsenseIsRefusedByName) {
  LayerDemand layer = made_dense(1);
  layer.operations = -1;
  EXPECT_NE(layer_cost(layer, Precision::fp32, made_board(), kReference, kReach).error().what.find("'dense'"),
            std::string::npos);
  layer.operations = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(layer_cost(layer, Precision::fp32, made_board(), kReference, kReach));
  EXPECT_FALSE(layer_cost(made_dense(1), Precision::fp32, made_board(), {}, kReach));
}

TEST(LegalClocks, ComeByMemoryClockThenSmClock) {
  const auto all = legal_clocks(made_board(), true);
  ASSERT_EQ(all.size(), 6U);
  EXPECT_EQ(all.front(), (Clocks{Megahertz(500), Megahertz(2500)}));
  EXPECT_EQ(all[2], (Clocks{Megahertz(500), Megahertz(5000)}));
  EXPECT_EQ(legal_clocks(made_board(), false).size(), 4U);
}

TEST(LegalClocks, ThinnedTheyKeepTheEndsAndTheDefault) {
  const auto thin = legal_clocks(made_board(), false, 2);
  EXPECT_EQ(thin, (std::vector<Clocks>{{Megahertz(500), Megahertz(5000)},
                                       {Megahertz(1500), Megahertz(5000)},
                                       {Megahertz(2000), Megahertz(5000)}}));
}

TEST(LegalClocks, WhatCannotBeLockedIsNotChosen) {
  BoardFigures board = made_board();
  board.has_memory_lock = false;
  EXPECT_EQ(legal_clocks(board, true).size(), 4U);
  board.has_sm_lock = false;
  EXPECT_EQ(legal_clocks(board, true), (std::vector<Clocks>{{Megahertz(1500), Megahertz(5000)}}));
}

}  // namespace
}  // namespace rubato::predict
