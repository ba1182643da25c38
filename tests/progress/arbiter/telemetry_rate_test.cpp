#include "progress/arbiter/telemetry_rate.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace rubato::progress {
namespace {

/// `seconds` at 10 a second, busy for `busy` of every 2 s: 300 W then, 60 W else.
std::vector<TelemetryPoint> duty(double seconds, double busy, bool with_utilisation, bool with_power) {
  std::vector<TelemetryPoint> points;
  for (int i = 0; i < static_cast<int>(seconds * 10); ++i) {
    const bool on = (i % 20) < static_cast<int>(busy * 20);
    TelemetryPoint p;
    p.at = TimePoint{} + Seconds(0.1 * i);
    if (with_utilisation) p.sm_utilisation = on ? 1.0 : 0.0;
    if (with_power) p.power = Watts(on ? 300 : 60);
    points.push_back(p);
  }
  return points;
}

TEST(TelemetryRate, IsTheShareOfTimeWithWork) {
  const auto rate = telemetry_rate(duty(20, 0.5, true, false));
  ASSERT_TRUE(rate);
  EXPECT_EQ(rate->kind, RateKind::busy_time);
  EXPECT_NEAR(rate->per_second, 0.5, 0.01);
  EXPECT_LE(rate->confidence, 0.5);
  ASSERT_TRUE(rate->half_width);
}

TEST(TelemetryRate, EnergyAboveIdleStandsInForUtilisation) {
  const auto rate = telemetry_rate(duty(20, 0.25, false, true));
  ASSERT_TRUE(rate);
  EXPECT_NEAR(rate->per_second, 0.25, 0.01);
  EXPECT_LT(rate->confidence, telemetry_rate(duty(20, 0.25, true, false))->confidence);
}

TEST(TelemetryRate, TwoColumnsThatAgreeAreSurerAndTwoThatDoNotAreLess) {
  const double alone = telemetry_rate(duty(20, 0.5, true, false))->confidence;
  EXPECT_GT(telemetry_rate(duty(20, 0.5, true, true))->confidence, alone);
  auto points = duty(20, 0.5, true, true);
  for (auto& p : points) p.sm_utilisation = 0.9;
  EXPECT_LT(telemetry_rate(points)->confidence, alone);
}

TEST(TelemetryRate, FlatPowerAloneTellsNothing) {
  auto points = duty(20, 0.5, false, true);
  for (auto& p : points) p.power = Watts(290);
  EXPECT_FALSE(telemetry_rate(points));
}

TEST(TelemetryRate, AlwaysBusySaysThatTheJobWorksAndNotHowFast) {
  auto points = duty(20, 1, true, false);
  const auto rate = telemetry_rate(points);
  ASSERT_TRUE(rate);
  EXPECT_LE(rate->confidence, 0.1);
  // Half the clock: the job needs twice as long, and busy time does not show it.
  for (std::size_t i = 0; i < points.size(); ++i) points[i].sm_clock = Megahertz(i < 100 ? 1400 : 700);
  const auto slowed = telemetry_rate(points);
  EXPECT_EQ(slowed->per_second, rate->per_second);
  EXPECT_LT(slowed->confidence, rate->confidence);
}

TEST(TelemetryRate, TooLittleIsNoRate) {
  EXPECT_FALSE(telemetry_rate({}));
  EXPECT_FALSE(telemetry_rate(duty(4, 0.5, true, true)));
  EXPECT_FALSE(telemetry_rate(duty(20, 0.5, false, false)));
}

TEST(TelemetryRate, BadPointsAreLeftOut) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  auto points = duty(20, 0.5, true, true);
  const double clean = telemetry_rate(points)->per_second;
  auto bad = points[50];
  bad.sm_utilisation = kNan;
  bad.power = Watts(kNan);
  bad.at = points[50].at + Seconds(0.01);
  points.insert(points.begin() + 51, bad);
  points.insert(points.begin() + 60, points[3]);  // backward
  EXPECT_NEAR(telemetry_rate(points)->per_second, clean, 0.01);
}

TEST(TelemetryRate, AGapCountsNoMoreThanAFewReadings) {
  auto points = duty(20, 0.5, true, false);
  for (std::size_t i = 100; i < points.size(); ++i) points[i].at = points[i].at + Seconds(1000);
  EXPECT_NEAR(telemetry_rate(points)->per_second, 0.5, 0.05);
}

TEST(CounterRate, IsTheInstructionsOfTheWindow) {
  FeatureVector window;
  window.begin = TimePoint{};
  window.end = TimePoint{} + Seconds(2);
  EXPECT_FALSE(counter_rate(window));
  window[Feature::instructions_per_second] = 3e12;
  const auto rate = counter_rate(window);
  ASSERT_TRUE(rate);
  EXPECT_EQ(rate->kind, RateKind::instructions);
  EXPECT_EQ(rate->per_second, 3e12);
  EXPECT_FALSE(rate->half_width);
  window.end = window.begin;
  EXPECT_FALSE(counter_rate(window));
}

}  // namespace
}  // namespace rubato::progress
