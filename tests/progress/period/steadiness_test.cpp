#include "progress/period/steadiness.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace rubato::progress {
namespace {

std::vector<Cycle> cycles(int count, double per_minute, double noise_s, std::uint64_t seed = 3) {
  Random random(seed);
  std::vector<Cycle> out;
  double at = 0;
  for (int i = 0; i < count; ++i) {
    const double length = 2 * (1 + per_minute * at / 60) + noise_s * random.normal();
    out.push_back({at, at + length});
    at += length;
  }
  return out;
}

TEST(Steadiness, TheHalfWidthShrinksWithTheCyclesAndGrowsWithTheirScatter) {
  const auto few = half_width_of(cycles(9, 0, 0.05), 0.05);
  const auto many = half_width_of(cycles(200, 0, 0.05), 0.05);
  const auto uneven = half_width_of(cycles(200, 0, 0.3), 0.05);
  ASSERT_TRUE(few && many && uneven);
  EXPECT_LT(*many, 0.5 * *few);
  EXPECT_GT(*uneven, 3 * *many);
  EXPECT_NEAR(*many, 0.0044, 0.001);
}

TEST(Steadiness, EqualLengthsAreNoBetterKnownThanTheSensorPlacesThem) {
  const auto width = half_width_of(cycles(25, 0, 0), 0.1);
  ASSERT_TRUE(width.has_value());
  EXPECT_GT(*width, 0.001);
}

TEST(Steadiness, TwoCyclesHaveNoHalfWidth) {
  EXPECT_FALSE(half_width_of(cycles(2, 0, 0), 0.1).has_value());
}

TEST(Steadiness, ADriftIsSaidPerMinute) {
  const auto drift = drift_of(cycles(90, 0.03, 0.03));
  ASSERT_TRUE(drift.has_value());
  EXPECT_NEAR(*drift, 0.028, 0.005);
}

TEST(Steadiness, ScatterIsNoDrift) {
  EXPECT_FALSE(drift_of(cycles(90, 0, 0.1)).has_value());
}

TEST(Steadiness, AChangeOfClockIsNoDrift) {
  std::vector<Cycle> out;
  Random random(5);
  double at = 0;
  for (int i = 0; i < 60; ++i) {
    const double length = (i < 25 ? 2 : 2.4) + 0.02 * random.normal();
    out.push_back({at, at + length});
    at += length;
  }
  EXPECT_FALSE(drift_of(out).has_value());
}

}  // namespace
}  // namespace rubato::progress
