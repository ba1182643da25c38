#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "progress/shift.h"
#include "progress/shift/readings.h"

namespace rubato::progress {
namespace {

using test::Level;
using test::Readings;
using test::readings_until;
using test::run;

TEST(ShiftDetector, IsReadyAfterFifteenReadings) {
  ShiftDetector detector;
  Readings readings;
  EXPECT_FALSE(run(detector, readings, 14));
  EXPECT_FALSE(detector.ready());
  EXPECT_FALSE(run(detector, readings, 1));
  EXPECT_TRUE(detector.ready());
}

TEST(ShiftDetector, AnHourOfTheSameIsNoShift) {
  ShiftDetector detector;
  Readings readings;
  EXPECT_FALSE(run(detector, readings, 3600));
}

TEST(ShiftDetector, FivePercentMorePowerIsToldWithinTenReadings) {
  for (const double power : {315.0, 285.0}) {
    ShiftDetector detector;
    Readings readings;
    ASSERT_FALSE(run(detector, readings, 120));
    Shift shift;
    const auto after = readings_until(detector, readings, 10, {.power_w = power}, &shift);
    ASSERT_TRUE(after) << power;
    EXPECT_EQ(shift.what, "power");
    EXPECT_EQ(shift.unit, "W");
    EXPECT_NEAR(shift.from, 300, 3);
    EXPECT_NEAR(shift.to, power, 6);
    EXPECT_NEAR(shift.at.since_epoch().value(), 120, 3);
    EXPECT_NEAR(shift.noticed.since_epoch().value(), 120 + *after, 1e-6);
    EXPECT_FALSE(shift.why.empty());
  }
}

TEST(ShiftDetector, HalfAsMuchAgainIsToldWithinThreeReadings) {
  for (const Level& level : {Level{.period_s = 0.6}, Level{.power_w = 450}, Level{.utilisation = 0.45}}) {
    ShiftDetector detector;
    Readings readings;
    ASSERT_FALSE(run(detector, readings, 60));
    EXPECT_LE(readings_until(detector, readings, 10, level).value_or(99), 3);
  }
}

TEST(ShiftDetector, AFractionIsComparedByItsDifference) {
  // 4 % to 6 % busy is half as much again, and two points.
  ShiftDetector detector;
  Readings readings;
  ASSERT_FALSE(run(detector, readings, 120, {.utilisation = 0.04}));
  EXPECT_FALSE(run(detector, readings, 120, {.utilisation = 0.06}));
  Shift shift;
  ASSERT_TRUE(readings_until(detector, readings, 10, {.utilisation = 0.2}, &shift));
  EXPECT_EQ(shift.what, "utilisation");
}

TEST(ShiftDetector, LearnsTheNewLevelAndTellsTheWayBack) {
  ShiftDetector detector;
  Readings readings;
  ASSERT_FALSE(run(detector, readings, 60));
  ASSERT_TRUE(readings_until(detector, readings, 5, {.power_w = 400}));
  EXPECT_FALSE(run(detector, readings, 300, {.power_w = 400}));
  Shift back;
  ASSERT_TRUE(readings_until(detector, readings, 5, {}, &back));
  EXPECT_NEAR(back.from, 400, 4);
  EXPECT_NEAR(back.to, 300, 9);
}

TEST(ShiftDetector, AStallOrALateReadingIsNoShift) {
  ShiftDetector detector;
  Readings readings;
  ASSERT_FALSE(run(detector, readings, 60));
  for (int i = 0; i < 30; ++i) {
    // Ten times as long and idle meanwhile; the reading after it took in some of it.
    EXPECT_FALSE(detector.add(readings.next({.period_s = 4, .power_w = 70, .utilisation = 0.1})));
    EXPECT_FALSE(detector.add(readings.next({.period_s = 0.8, .power_w = 180, .utilisation = 0.5})));
    EXPECT_FALSE(run(detector, readings, 40));
  }
}

TEST(ShiftDetector, ABoardThatWarmsUpIsNoShift) {
  // 1 % a minute for ten minutes: leakage.
  ShiftDetector detector;
  Readings readings;
  for (int i = 0; i < 600; ++i)
    EXPECT_FALSE(detector.add(readings.next({.power_w = 300 * (1 + 0.01 * i / 60)}))) << i;
}

TEST(ShiftDetector, EqualReadingsAreLearnedToo) {
  ShiftDetector detector;
  Readings readings(1, 0);
  ASSERT_FALSE(run(detector, readings, 100));
  ASSERT_TRUE(detector.ready());
  EXPECT_FALSE(run(detector, readings, 100, {.power_w = 301}));
  EXPECT_LE(readings_until(detector, readings, 10, {.power_w = 320}).value_or(99), 4);
}

TEST(ShiftDetector, AnExplainedChangeIsNoShift) {
  ShiftDetector detector;
  Readings readings;
  ASSERT_FALSE(run(detector, readings, 100));
  detector.rebase(readings.now());
  EXPECT_FALSE(detector.ready());
  EXPECT_FALSE(run(detector, readings, 200, {.period_s = 0.5, .power_w = 220}));
  EXPECT_TRUE(readings_until(detector, readings, 10, {.period_s = 0.5, .power_w = 300}));
}

TEST(ShiftDetector, AReadingAcrossAnExplainedChangeIsLeftOut) {
  ShiftDetector detector;
  Readings readings;
  detector.rebase(readings.now() + Seconds(0.5));
  EXPECT_FALSE(run(detector, readings, 15));
  EXPECT_FALSE(detector.ready());  // the first one began before
  EXPECT_FALSE(run(detector, readings, 1));
  EXPECT_TRUE(detector.ready());
}

TEST(ShiftDetector, AChangeWithinASecondIsNoShiftYet) {
  ShiftDetector detector;
  Readings readings(1, 0.01, 0.2);
  ASSERT_FALSE(run(detector, readings, 200));
  EXPECT_FALSE(run(detector, readings, 4, {.power_w = 100}));
  EXPECT_FALSE(run(detector, readings, 200));
}

TEST(ShiftDetector, SmallerChangesAreToldWhereAskedFor) {
  ShiftDetector detector({.smallest_change = 0.02});
  Readings readings(1, 0.002);
  ASSERT_FALSE(run(detector, readings, 120));
  EXPECT_TRUE(readings_until(detector, readings, 10, {.power_w = 306}));
}

TEST(ShiftDetector, ACountersWindowIsTakenOnce) {
  ShiftDetector detector;
  FeatureVector window;
  window.begin = TimePoint{};
  window.end = TimePoint{} + Seconds(1);
  window[Feature::tensor_active] = 0.5;
  Readings readings;
  for (int i = 0; i < 100; ++i) {
    ShiftReading r = readings.next();
    r.period.reset();
    r.power.reset();
    r.sm_utilisation.reset();
    r.features = window;  // the same one again and again
    EXPECT_FALSE(detector.add(r));
  }
  EXPECT_FALSE(detector.ready());
}

TEST(ShiftDetector, AChangeThatShowsInACounterAloneIsToldByItsName) {
  ShiftDetector detector;
  Readings readings;
  std::optional<Shift> told;
  for (int i = 0; i < 80 && !told; ++i) {
    ShiftReading r = readings.next();
    r.features.emplace();
    r.features->begin = r.begin;
    r.features->end = r.end;
    (*r.features)[Feature::tensor_active] = i < 60 ? 0.4 : 0.2;
    told = detector.add(r);
  }
  ASSERT_TRUE(told);
  EXPECT_EQ(told->what, "tensor_active");
  EXPECT_NEAR(told->at.since_epoch().value(), 60, 1);
}

TEST(ShiftDetector, WhatIsNoReadingIsLeftOut) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInf = std::numeric_limits<double>::infinity();
  ShiftDetector detector;
  Readings readings;
  ASSERT_FALSE(run(detector, readings, 100));
  for (const Level& bad :
       {Level{kNan, kNan, kNan}, Level{kInf, kInf, kInf}, Level{-1, -1, -1}, Level{0, 300, 7}})
    EXPECT_FALSE(run(detector, readings, 20, bad));
  ShiftReading empty = readings.next({.power_w = 900});
  empty.end = empty.begin;
  EXPECT_FALSE(detector.add(empty));
  ShiftReading again;  // long before all others
  again.end = again.begin + Seconds(1);
  again.power = Watts(900);
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(detector.add(again));
  EXPECT_TRUE(readings_until(detector, readings, 10, {.power_w = 450}));
}

}  // namespace
}  // namespace rubato::progress
