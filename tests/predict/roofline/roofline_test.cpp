#include "predict/roofline/roofline.h"

#include <gmock/gmock.h>

namespace rubato::predict {
namespace {

using ::testing::HasSubstr;

constexpr Clocks kTop{Megahertz(1000), Megahertz(800)};

Position half_compute() {
  return *position_of({{"fp32_active", 0.4}, {"fp16_active", 0.1}, {"dram_active", 0.8}}, kTop);
}

TEST(RooflinePosition, GoesByTheBusiestPipe) {
  const Position p = half_compute();
  EXPECT_EQ(p.pipe, Pipe::fp32);
  EXPECT_DOUBLE_EQ(ratio_at(p, kTop), 0.5);
  EXPECT_EQ(side_at(p, kTop), Side::memory);
}

TEST(RooflinePosition, TheKneeIsWhereBothTakeAsLong) {
  const Position p = half_compute();
  EXPECT_EQ(memory_knee(p, Megahertz(800)), Megahertz(500));
  EXPECT_DOUBLE_EQ(ratio_at(p, {Megahertz(500), Megahertz(800)}), 1);
  EXPECT_EQ(side_at(p, {Megahertz(499), Megahertz(800)}), Side::compute);
  EXPECT_EQ(side_at(p, {Megahertz(501), Megahertz(800)}), Side::memory);
}

TEST(RooflinePosition, SlowerMemoryMovesTheKneeDown) {
  EXPECT_EQ(memory_knee(half_compute(), Megahertz(400)), Megahertz(250));
}

TEST(RooflinePosition, AtLowerClocksTheSameWorkloadHasTheSameKnee) {
  // The workload of half_compute() at half the SM clock: both units work all the time.
  const auto p = position_of({{"fp32_active", 0.8}, {"dram_active", 0.8}}, {Megahertz(500), Megahertz(800)});
  EXPECT_EQ(memory_knee(*p, Megahertz(800)), Megahertz(500));
}

TEST(RooflinePosition, IntensityNeedsPeakRatesAndAgreesWithTheRidge) {
  PeakRates rates{.bytes_per_clock = 10};
  rates.operations_per_clock[static_cast<std::size_t>(Pipe::fp32)] = 100;
  EXPECT_FALSE(half_compute().intensity);
  const auto p = position_of({{"fp32_active", 0.4}, {"dram_active", 0.8}}, kTop, rates);
  // 0.4 * 100 * 1000 operations a microsecond over 0.8 * 10 * 800 bytes.
  EXPECT_DOUBLE_EQ(*p->intensity, 6.25);
  EXPECT_DOUBLE_EQ(*p->intensity / *ridge(rates, Pipe::fp32, kTop.sm, kTop.memory), ratio_at(*p, kTop));
  const auto known = position_of(Pipe::fp32, 6.25, kTop, rates);
  EXPECT_DOUBLE_EQ(ratio_at(*known, kTop), 0.5);
  EXPECT_DOUBLE_EQ(known->memory, 1.0);
  const auto above = position_of(Pipe::fp32, 25, kTop, rates);
  EXPECT_DOUBLE_EQ(ratio_at(*above, kTop), 2);
  EXPECT_DOUBLE_EQ(above->compute, 1.0);
}

TEST(RooflinePosition, SmActivityAloneIsAnUpperBound) {
  const auto busy = position_of({{"sm_active", 0.9}, {"dram_active", 0.3}}, kTop);
  EXPECT_TRUE(busy->upper_bound());
  EXPECT_EQ(side_at(*busy, kTop), Side::unknown) << "the SMs may only wait";
  EXPECT_EQ(side_at(*busy, {Megahertz(4000), Megahertz(800)}), Side::memory);
  const auto copy = position_of({{"sm_active", 0.9}, {"dram_active", 0.9}}, kTop);
  EXPECT_EQ(side_at(*copy, kTop), Side::memory);
}

TEST(RooflinePosition, WithoutBytesComputeHoldsItUpEverywhere) {
  const auto p = position_of({{"fp32_active", 0.9}, {"dram_active", 0.0}}, kTop);
  EXPECT_FALSE(memory_knee(*p, kTop.memory));
  EXPECT_EQ(side_at(*p, kTop), Side::compute);
  EXPECT_THAT(describe(*p, kTop.sm), HasSubstr("compute holds it up at every clock"));
}

TEST(RooflinePosition, IsAbsentWhereNothingWasCountedOrNothingWorks) {
  EXPECT_FALSE(position_of({}, kTop));
  EXPECT_FALSE(position_of({{"fp32_active", 0.5}}, kTop));
  EXPECT_FALSE(position_of({{"dram_active", 0.5}}, kTop));
  EXPECT_FALSE(position_of({{"fp32_active", 0.001}, {"dram_active", 0.002}}, kTop));
}

TEST(RooflinePosition, IsSaidInOneSentence) {
  EXPECT_EQ(describe(half_compute(), kTop.sm),
            "memory holds it up above 500 MHz, compute below (fp32 pipe 40 % busy, memory 80 %)");
}

TEST(Standings, TellRatioSideAndRidgeAtEachClock) {
  PeakRates rates{.bytes_per_clock = 10};
  rates.operations_per_clock[static_cast<std::size_t>(Pipe::fp32)] = 100;
  const Clocks clocks[] = {{Megahertz(400), Megahertz(800)}, kTop};
  const auto rows = standings(half_compute(), clocks, rates);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].side, Side::compute);
  EXPECT_DOUBLE_EQ(*rows[0].ridge, 5);
  EXPECT_EQ(rows[1].side, Side::memory);
  EXPECT_DOUBLE_EQ(*rows[1].ridge, 12.5);
}

TEST(RooflineFeatures, AreNamedAndBounded) {
  const auto f = roofline_features({{"fp32_active", 0.4}, {"dram_active", 0.8}, {"sm_clock_fraction", 0.9}});
  EXPECT_DOUBLE_EQ(f.at("roofline_log2_ratio"), -1);
  EXPECT_DOUBLE_EQ(f.at("roofline_knee_fraction"), 0.45);
  EXPECT_DOUBLE_EQ(f.at("roofline_reach"), 0.8);
  const auto pure =
      roofline_features({{"tensor_active", 0.9}, {"dram_active", 0.0}, {"sm_clock_fraction", 1}});
  EXPECT_DOUBLE_EQ(pure.at("roofline_log2_ratio"), 6);
  EXPECT_DOUBLE_EQ(pure.at("roofline_knee_fraction"), 4);
}

TEST(RooflineFeatures, WhatCannotBeToldIsLeftOut) {
  EXPECT_TRUE(roofline_features({{"sm_utilisation", 0.9}}).empty());
  EXPECT_EQ(roofline_features({{"fp32_active", 0.4}, {"dram_active", 0.8}}).count("roofline_knee_fraction"),
            0U);
}

TEST(NamedFeatures, HoldWhatWasCountedOnly) {
  FeatureVector v;
  v[Feature::dram_active] = 0.25;
  EXPECT_EQ(named_features(v), (std::map<std::string, double>{{"dram_active", 0.25}}));
}

}  // namespace
}  // namespace rubato::predict
