#include "plan/price.h"

#include <gtest/gtest.h>

#include "beliefs.h"

namespace rubato::plan {
namespace {

// In a second of run time at 200 W: 200 J at the default, 150 J in 1.1 s, 140 J in 1.3 s.
predict::Prediction curve() {
  return believe({{150, 1.1, 0.75}, {100, 1.3, 0.70}, {50, 2.0, 0.90}});
}

TEST(Price, IsTheSlopeOfTheFrontOnEitherSide) {
  const Price price = price_of_a_second(curve(), 0, 200_W);
  ASSERT_TRUE(price.slower && price.faster);
  EXPECT_NEAR(price.faster->value(), 500, 1e-9);  // 50 J for 0.1 s
  EXPECT_NEAR(price.slower->value(), 50, 1e-9);   // 10 J for 0.2 s
}

TEST(Price, AtTheEndsOfTheFrontOneSideIsMissing) {
  const Price fastest = price_of_a_second(curve(), std::nullopt, 200_W);
  EXPECT_FALSE(fastest.faster);
  EXPECT_NEAR(fastest.slower.value().value(), 500, 1e-9);
  const Price least = price_of_a_second(curve(), 1, 200_W);
  EXPECT_NEAR(least.faster.value().value(), 50, 1e-9);
  EXPECT_FALSE(least.slower);
}

TEST(Price, TheHostsWattsLowerWhatASecondSaves) {
  const Price price = price_of_a_second(curve(), 0, 200_W, 40_W);
  EXPECT_NEAR(price.slower.value().value(), 10, 1e-9);
  EXPECT_NEAR(price.faster.value().value(), 460, 1e-9);
}

TEST(Price, ASettingInsideTheFrontIsJudgedByTheSegmentBelowIt) {
  const auto believed = believe({{150, 1.1, 0.75}, {100, 1.3, 0.70}, {120, 1.2, 0.80}});
  const Price price = price_of_a_second(believed, 2, 200_W);
  EXPECT_NEAR(price.slower.value().value(), 50, 1e-9);
  EXPECT_NEAR(price.faster.value().value(), 50, 1e-9);
}

}  // namespace
}  // namespace rubato::plan
