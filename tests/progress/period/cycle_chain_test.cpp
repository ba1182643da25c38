#include "progress/period/cycle_chain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "progress/period/wave.h"

namespace rubato::progress {
namespace {

constexpr double kStep = 0.05;

Series level_of(double seconds, double noise_w, double period_s, const std::function<double(double)>& watts) {
  const Samples samples = samples_of(readings(seconds, kStep, noise_w, watts));
  return high_pass(resample(samples, 0, seconds, kStep, varying_columns(samples, 0, seconds)), 2 * period_s);
}

std::vector<double> lengths_s(const std::vector<ChainMark>& marks) {
  std::vector<double> out;
  for (std::size_t i = 1; i < marks.size(); ++i)
    if (!marks[i].paused) out.push_back(kStep * (marks[i].at - marks[i - 1].at));
  return out;
}

double median_of(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return x[x.size() / 2];
}

TEST(CycleChain, CyclesThatSinglyDrownInNoiseAreFoundByTheirMean) {
  // A cycle differs from its neighbour by noise of three times its own variance.
  const Series level = level_of(160, 95, 2, [](double t) { return three_levels(t, 2); });
  const auto marks = chain_of_cycles(level, {800, 1600, 2400}, 2 / kStep, 1);
  const auto lengths = lengths_s(marks);
  ASSERT_GT(lengths.size(), 60U);
  EXPECT_NEAR(median_of(lengths), 2, 0.02);
  EXPECT_TRUE(std::all_of(lengths.begin(), lengths.end(), [](double s) { return std::abs(s - 2) < 0.5; }));
}

TEST(CycleChain, TheAnchorWhoseChainHoldsMostIsTaken) {
  // At 10 s something else than the cycle.
  const Series level = level_of(100, 4, 2, [](double t) {
    return t > 6 && t < 14 ? 150.0 + 20 * std::sin(7 * t) : three_levels(t, 2);
  });
  const auto marks = chain_of_cycles(level, {200, 1200}, 2 / kStep, 1);
  const auto lengths = lengths_s(marks);
  ASSERT_GE(lengths.size(), 38U);
  EXPECT_NEAR(median_of(lengths), 2, 0.01);
}

TEST(CycleChain, WhatFitsNowhereIsPassedOverAndSaid) {
  const Series level = level_of(100, 4, 2, [](double t) {
    if (t > 50 && t < 59) return 120.0;
    return three_levels(t < 50 ? t : t - 59, 2);
  });
  const auto marks = chain_of_cycles(level, {400}, 2 / kStep, 1);
  EXPECT_EQ(std::count_if(marks.begin(), marks.end(), [](const ChainMark& m) { return m.paused; }), 1);
  EXPECT_GE(marks.size(), 42U);
}

TEST(CycleChain, MarksAreInOrderAndFitTheSeries) {
  const Series level = level_of(30, 300, 2, [](double) { return 200.0; });
  const auto marks = chain_of_cycles(level, {100, 300}, 2 / kStep, 1);
  for (std::size_t i = 1; i < marks.size(); ++i) EXPECT_GT(marks[i].at, marks[i - 1].at);
  for (const ChainMark& mark : marks) {
    EXPECT_GE(mark.at, 0);
    EXPECT_LT(mark.at, static_cast<double>(level.size));
  }
}

TEST(CycleChain, WithoutAnAnchorOrAnyLoadThereIsNone) {
  const Series level = level_of(30, 0, 2, [](double t) { return three_levels(t, 2); });
  EXPECT_TRUE(chain_of_cycles(level, {}, 2 / kStep, 1).empty());
  Series zero = level;
  for (auto& column : zero.columns) std::fill(column.begin(), column.end(), 0.0);
  EXPECT_TRUE(chain_of_cycles(zero, {200}, 2 / kStep, 1).empty());
}

}  // namespace
}  // namespace rubato::progress
