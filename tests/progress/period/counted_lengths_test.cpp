#include "progress/period/counted_lengths.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace rubato::progress {
namespace {

constexpr double kUpdate = 0.1;

/// Cycles whose marks lie on the first update after each begins; what lasts an update more is left out, as
/// held up.
std::vector<Cycle> on_updates(double length_s, std::size_t count) {
  const double usual = std::floor(length_s / kUpdate) * kUpdate;
  std::vector<Cycle> out;
  double last = 0;
  for (std::size_t i = 1; i <= count; ++i) {
    const double at = std::ceil(static_cast<double>(i) * length_s / kUpdate - 1e-9) * kUpdate;
    if (at - last < usual + 0.5 * kUpdate) out.push_back({last, at});
    last = at;
  }
  return out;
}

TEST(CountedLengths, WhatLastsAnUpdateMoreIsCounted) {
  const auto cycles = on_updates(0.312, 60);
  ASSERT_LT(cycles.size(), 58U);
  EXPECT_NEAR(steady_median(overlapping_lengths(cycles, 0.312, kUpdate)), 0.3, 0.002);
  const auto lengths = counted_lengths(cycles, 0.312, kUpdate);
  ASSERT_TRUE(lengths.has_value());
  for (const TimedLength& length : *lengths) EXPECT_NEAR(length.length_s, 0.312, 0.01);
}

TEST(CountedLengths, NotWhereTheUsualLengthIsNoNumberOfUpdates) {
  std::vector<Cycle> cycles;
  for (int i = 0; i < 60; ++i)
    if (i % 9 != 8) cycles.push_back({0.35 * i, 0.35 * (i + 1)});
  EXPECT_FALSE(counted_lengths(cycles, 0.35, kUpdate).has_value());
}

TEST(CountedLengths, StallsStayOut) {
  Random random(5);
  std::vector<Cycle> cycles;
  double stalled = 0;
  double last = 0;
  for (int i = 1; i <= 150; ++i) {
    const double at = 0.4 * i + stalled + random.uniform(-0.02, 0.02);
    cycles.push_back({last, at});
    last = at;
    if (i % 25 > 0) continue;
    const double stall = random.uniform(0.55, 0.65);
    stalled += stall;
    last += stall;
  }
  const auto lengths = counted_lengths(cycles, 0.4, kUpdate);
  ASSERT_TRUE(lengths.has_value());
  for (const TimedLength& length : *lengths) EXPECT_NEAR(length.length_s, 0.4, 0.005);
}

TEST(CountedLengths, NotWhereLengthsDifferByThemselves) {
  Random random(5);
  std::vector<Cycle> cycles;
  double at = 0;
  for (int i = 0; i < 120; ++i) {
    const double begin = at;
    at += 0.4 + random.uniform(-0.1, 0.1);
    cycles.push_back({begin, at});
  }
  EXPECT_FALSE(counted_lengths(cycles, 0.4, kUpdate).has_value());
}

TEST(CountedLengths, NotOfFewCyclesNorOfLongOnes) {
  EXPECT_FALSE(counted_lengths({}, 0.3, kUpdate).has_value());
  EXPECT_FALSE(counted_lengths(on_updates(0.312, 20), 0.312, kUpdate).has_value());
  EXPECT_FALSE(counted_lengths(on_updates(2.01, 60), 2.01, kUpdate).has_value());
}

}  // namespace
}  // namespace rubato::progress
