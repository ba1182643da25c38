#include "progress/period/length_histogram.h"

#include <gtest/gtest.h>

#include <vector>

namespace rubato::progress {
namespace {

TEST(LengthHistogram, TheMedianIsWithinHalfAPercent) {
  LengthHistogram histogram;
  for (int i = 0; i < 100; ++i) histogram.add(1.0);
  for (int i = 0; i < 61; ++i) histogram.add(3.0);
  EXPECT_NEAR(histogram.median_with({}), 1.0, 0.005);
}

TEST(LengthHistogram, WhatIsGivenBesideItCounts) {
  LengthHistogram histogram;
  for (int i = 0; i < 3; ++i) histogram.add(1.0);
  const std::vector<double> more{2.0, 2.0, 2.0, 2.0, 2.0};
  EXPECT_DOUBLE_EQ(histogram.median_with(more), 2.0);
  EXPECT_DOUBLE_EQ(LengthHistogram().median_with(std::vector<double>{1.0, 3.0}), 2.0);
  EXPECT_DOUBLE_EQ(LengthHistogram().median_with({}), 0.0);
}

TEST(LengthHistogram, LengthsOutOfRangeAreKeptAtItsEnds) {
  LengthHistogram histogram;
  histogram.add(1e-9);
  histogram.add(1e9);
  EXPECT_EQ(histogram.count(), 2U);
}

}  // namespace
}  // namespace rubato::progress
