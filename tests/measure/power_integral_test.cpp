#include "measure/power_integral.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace rubato::measure {
namespace {

TimePoint at_s(double seconds) {
  return TimePoint{} + Seconds(seconds);
}

const SensorSight kSensor{0.1_s, {}, {}};

PowerIntegral steady(double from_s, double to_s, Watts power) {
  PowerIntegral integral(kSensor);
  for (int i = 0; from_s + 0.1 * i <= to_s + 1e-9; ++i) integral.add(at_s(from_s + 0.1 * i), power);
  return integral;
}

TEST(PowerIntegral, ConstantPowerForTenSecondsIsExact) {
  const auto energy = steady(0, 10, 300_W).over(at_s(0), at_s(10));
  ASSERT_TRUE(energy);
  EXPECT_NEAR(energy->measured.value(), 3000, 1e-6);
  EXPECT_NEAR(energy->band.value(), 0, 1e-6);
  EXPECT_EQ(energy->gap_time, 0_s);
}

TEST(PowerIntegral, ReadingsAreHeldForOnePeriodBeyondTheEnds) {
  const auto energy = steady(0.1, 9.9, 300_W).over(at_s(0), at_s(10));
  EXPECT_NEAR(energy->measured.value(), 3000, 1e-6);
  EXPECT_NEAR(energy->gap_time.value(), 0, 1e-6);
}

TEST(PowerIntegral, BeyondOnePeriodFromTheEndsNothingIsMeasured) {
  const PowerIntegral integral = steady(1, 9, 300_W);
  const auto energy = integral.over(at_s(0), at_s(10));
  EXPECT_NEAR(energy->measured.value(), 300 * 8.2, 1e-6);
  EXPECT_NEAR(energy->estimated.value(), 300 * 1.8, 1e-6);
  EXPECT_NEAR(energy->gap_time.value(), 1.8, 1e-6);
  EXPECT_GE(energy->band.value(), 100);
  EXPECT_EQ(integral.gaps(at_s(0), at_s(10)).size(), 2U);
}

TEST(PowerIntegral, AnEdgeInsideAStepIsSplit) {
  PowerIntegral integral(kSensor);
  integral.add(at_s(0.0), 100_W);
  integral.add(at_s(0.1), 100_W);
  integral.add(at_s(0.2), 300_W);
  integral.add(at_s(0.3), 300_W);
  // From 0.15 s, half way up the step: a trapezoid of 200 to 300 W for 0.05 s, then 300 W for 0.1 s.
  EXPECT_NEAR(integral.over(at_s(0.15), at_s(0.3))->measured.value(), 12.5 + 30, 1e-6);
  const double left = integral.over(at_s(0), at_s(0.15))->measured.value();
  const double whole = integral.over(at_s(0), at_s(0.3))->measured.value();
  EXPECT_NEAR(left + 42.5, whole, 1e-6);
}

TEST(PowerIntegral, TheBandOfAStepReachesBothPlacesItMayHaveHappened) {
  PowerIntegral integral(kSensor);
  integral.add(at_s(0.0), 100_W);
  integral.add(at_s(0.1), 300_W);
  const auto energy = integral.over(at_s(0), at_s(0.1));
  EXPECT_NEAR(energy->measured.value(), 20, 1e-9);
  EXPECT_GE(energy->band.value(), 10);
}

TEST(PowerIntegral, AHoleIsReportedAndNotBridgedSilently) {
  PowerIntegral integral(kSensor);
  integral.add(at_s(0), 300_W);
  integral.add(at_s(10), 300_W);
  const auto energy = integral.over(at_s(0), at_s(10));
  EXPECT_NEAR(energy->measured.value(), 60, 1e-6);
  EXPECT_NEAR(energy->estimated.value(), 2940, 1e-6);
  EXPECT_NEAR(energy->gap_time.value(), 9.8, 1e-6);
  EXPECT_NEAR(energy->band.value(), 1470, 1e-6);
  const auto gaps = integral.gaps(at_s(5), at_s(10));
  ASSERT_EQ(gaps.size(), 1U);
  EXPECT_EQ(gaps[0].begin, at_s(5));
  EXPECT_EQ(gaps[0].end, at_s(9.9));
  EXPECT_NEAR(gaps[0].estimate.value(), 300 * 4.9, 1e-6);
}

TEST(PowerIntegral, ASingleLostTickIsBridged) {
  PowerIntegral integral(kSensor);
  integral.add(at_s(0), 300_W);
  integral.add(at_s(0.2), 300_W);
  EXPECT_TRUE(integral.gaps(at_s(0), at_s(0.2)).empty());
  EXPECT_NEAR(integral.over(at_s(0), at_s(0.2))->measured.value(), 60, 1e-9);
}

TEST(PowerIntegral, NonsenseAndRepeatedReadingsChangeNothing) {
  PowerIntegral integral = steady(0, 1, 300_W);
  EXPECT_FALSE(integral.add(at_s(1), 900_W));
  EXPECT_FALSE(integral.add(at_s(0.5), 900_W));
  EXPECT_FALSE(integral.add(at_s(1.1), Watts(-1)));
  EXPECT_FALSE(integral.add(at_s(1.1), Watts(std::numeric_limits<double>::quiet_NaN())));
  EXPECT_NEAR(integral.over(at_s(0), at_s(1))->total().value(), 300, 1e-6);
}

// The power rose from 100 to 300 W at 5 s; a mean over one second climbs for one second.
PowerIntegral climbed_over_a_second() {
  PowerIntegral integral({0.1_s, 1_s, {}});
  for (int i = 0; i <= 100; ++i) integral.add(at_s(0.1 * i), Watts(100 + 20 * std::clamp(i - 50, 0, 10)));
  return integral;
}

TEST(PowerIntegral, AnEdgeIsLookedUpWhereItsReadingsAre) {
  const PowerIntegral integral = climbed_over_a_second();
  const auto before = integral.between(*integral.edge(at_s(2)), *integral.edge(at_s(4)));
  EXPECT_NEAR(before.total().value(), 200, 1e-6);
  const auto after = integral.between(*integral.edge(at_s(6)), *integral.edge(at_s(8)));
  EXPECT_NEAR(after.total().value(), 600, 1e-6);
  // Five seconds before the step, three after it, and half a period of doubt about the refresh.
  const auto across = integral.between(*integral.edge(at_s(0)), *integral.edge(at_s(8)));
  EXPECT_NEAR(across.total().value(), 5 * 100 + 3 * 300, 0.05 * 200 + 1e-6);
  EXPECT_GE(across.band.value(), 0.05 * 200);
}

TEST(PowerIntegral, ASlidingMeanBlursTheEdgesOfAStep) {
  const PowerIntegral integral = climbed_over_a_second();
  const auto cut = integral.between(*integral.edge(at_s(2)), *integral.edge(at_s(5)));
  // A triangle of half a second and half the step is what the mean gives to the wrong side.
  EXPECT_GE(cut.band.value(), 0.5 * 0.5 * 100);
  EXPECT_NEAR(cut.total().value(), 300, cut.band.value());
}

TEST(PowerIntegral, ALagIsTakenOffAtTheEdges) {
  const double lag = 0.2;
  PowerIntegral integral({0.02_s, {}, Seconds(lag)});
  for (int i = 0; i <= 500; ++i) {
    const double t = 0.02 * i;
    integral.add(at_s(t), Watts(t < 5 ? 100 : 300 - 200 * std::exp(-(t - 5) / lag)));
  }
  const auto across = integral.between(*integral.edge(at_s(2)), *integral.edge(at_s(8)));
  EXPECT_NEAR(across.total().value(), 300 + 900, 0.01 * 200 + 0.1);
  // In the midst of the creep.
  const auto cut = integral.between(*integral.edge(at_s(2)), *integral.edge(at_s(5.2)));
  EXPECT_NEAR(cut.total().value(), 300 + 60, 0.01 * 200 + 0.1);
  EXPECT_LT(cut.band.value(), 40);
}

TEST(PowerIntegral, WhatASensorSeesAllOfLeavesNoDoubtBetweenReadings) {
  PowerIntegral all({0.1_s, 0.1_s, {}});
  PowerIntegral quarter({0.1_s, 0.025_s, {}});
  for (int i = 0; i <= 100; ++i) {
    all.add(at_s(0.1 * i), Watts(i % 2 == 0 ? 100 : 300));
    quarter.add(at_s(0.1 * i), Watts(i % 2 == 0 ? 100 : 300));
  }
  const double seen = all.over(at_s(0), at_s(10))->unseen_sigma.value();
  const double looked = quarter.over(at_s(0), at_s(10))->unseen_sigma.value();
  // 75 of 100 ms unseen, 100 W to either side of the mean, a hundred looks.
  EXPECT_NEAR(looked, 0.75 * 0.1 * 200 * std::sqrt(0.5 * 100), 1);
  EXPECT_LT(seen, 0.4 * looked);
}

TEST(PowerIntegral, NothingReadIsNoEnergyRatherThanZero) {
  EXPECT_FALSE(PowerIntegral(kSensor).over(at_s(0), at_s(1)));
}

RC_GTEST_PROP(PowerIntegralProperty, NeighbouringWindowsAddUp, ()) {
  PowerIntegral integral(kSensor);
  double t = 0;
  const int readings = *rc::gen::inRange(1, 40);
  for (int i = 0; i < readings; ++i) {
    integral.add(at_s(t), Watts(*rc::gen::inRange(0, 400)));
    t += 0.01 * *rc::gen::inRange(1, 80);
  }
  const double middle = 0.01 * *rc::gen::inRange(-100, 3000);
  const auto whole = integral.over(at_s(-1), at_s(31));
  const auto left = integral.over(at_s(-1), at_s(middle));
  const auto right = integral.over(at_s(middle), at_s(31));
  RC_ASSERT(std::abs((left->total() + right->total() - whole->total()).value()) < 1e-6);
  RC_ASSERT(std::abs((left->gap_time + right->gap_time - whole->gap_time).value()) < 1e-6);
  double listed = 0;
  for (const PowerGap& gap : integral.gaps(at_s(-1), at_s(31))) listed += (gap.end - gap.begin).value();
  RC_ASSERT(std::abs(listed - whole->gap_time.value()) < 1e-6);
}

RC_GTEST_PROP(PowerIntegralProperty, ForgettingKeepsLaterWindowsAsTheyWere, ()) {
  PowerIntegral kept(kSensor);
  PowerIntegral forgetful(kSensor);
  double t = 0;
  for (int i = 0; i < 60; ++i) {
    const Watts power(*rc::gen::inRange(0, 400));
    kept.add(at_s(t), power);
    forgetful.add(at_s(t), power);
    t += 0.01 * *rc::gen::inRange(1, 80);
  }
  const TimePoint begin = at_s(t * 0.5);
  forgetful.forget(begin);
  RC_ASSERT(forgetful.readings() <= kept.readings());
  RC_ASSERT(kept.over(begin, at_s(t))->total() == forgetful.over(begin, at_s(t))->total());
  RC_ASSERT(!forgetful.at(at_s(-1)) || forgetful.readings() == kept.readings());
}

}  // namespace
}  // namespace rubato::measure
