// What no sensor should send and some do: the detector's confidence falls, and nothing breaks.
#include <gtest/gtest.h>

#include <limits>

#include "progress/period/period_detector.h"
#include "progress/period/wave.h"

namespace rubato::progress {
namespace {

std::vector<TelemetryPoint> good(double seconds) {
  return readings(seconds, 0.05, 3, [](double t) { return three_levels(t, 1.6); });
}

PeriodSummary summary_of(const std::vector<TelemetryPoint>& points) {
  auto detector = make_period_detector();
  for (const auto& point : points) detector->add(point);
  return detector->summary();
}

TEST(BadInput, NoPointAtAllHasNoVerdict) {
  const auto summary = make_period_detector()->summary();
  EXPECT_FALSE(summary.verdict.has_value());
  EXPECT_FALSE(summary.decided_after.has_value());
  EXPECT_EQ(summary.points, 0U);
}

TEST(BadInput, ASinglePointHasNoVerdict) {
  const auto summary = summary_of({good(1).front()});
  EXPECT_FALSE(summary.verdict.has_value());
  EXPECT_EQ(summary.points, 1U);
}

TEST(BadInput, RepeatedAndBackwardTimesAreDroppedAndThePeriodStands) {
  std::vector<TelemetryPoint> points;
  for (const auto& point : good(60)) {
    points.push_back(point);
    points.push_back(point);
    TelemetryPoint back = point;
    back.at = back.at - Seconds(3);
    points.push_back(back);
  }
  const auto summary = summary_of(points);
  EXPECT_EQ(summary.dropped, 2 * summary.points);
  ASSERT_TRUE(summary.verdict && summary.verdict->periodic);
  EXPECT_NEAR(summary.verdict->period->value(), 1.6, 0.032);
}

TEST(BadInput, ValuesThatAreNoNumbersAreDropped) {
  auto points = good(60);
  for (std::size_t i = 0; i < points.size(); i += 10)
    points[i].power = Watts(std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 5; i < points.size(); i += 10)
    points[i].power = Watts(std::numeric_limits<double>::infinity());
  const auto summary = summary_of(points);
  EXPECT_GT(summary.dropped, 200U);
  ASSERT_TRUE(summary.verdict && summary.verdict->periodic);
  EXPECT_NEAR(summary.verdict->period->value(), 1.6, 0.032);
}

TEST(BadInput, GapsAreSaidAndDoNotMoveThePeriod) {
  std::vector<TelemetryPoint> points;
  for (const auto& point : good(90)) {
    const double t = point.at.since_epoch().value();
    if ((t > 20 && t < 27) || (t > 50 && t < 55)) continue;
    points.push_back(point);
  }
  const auto summary = summary_of(points);
  ASSERT_TRUE(summary.verdict && summary.verdict->periodic);
  EXPECT_NEAR(summary.verdict->period->value(), 1.6, 0.032);
  ASSERT_FALSE(summary.notes.empty());
  EXPECT_NE(summary.notes.front().find("2 gaps"), std::string::npos);
}

TEST(BadInput, NothingButNotANumberHasNoVerdict) {
  auto points = good(60);
  for (auto& point : points) point.power = Watts(std::numeric_limits<double>::quiet_NaN());
  const auto summary = summary_of(points);
  EXPECT_EQ(summary.points, 0U);
  EXPECT_EQ(summary.dropped, points.size());
  EXPECT_FALSE(summary.verdict.has_value());
}

TEST(BadInput, TwoPointsFarApartBreakNothing) {
  TelemetryPoint first = good(1).front();
  TelemetryPoint second = first;
  second.at = second.at + Seconds(1e7);
  EXPECT_FALSE(summary_of({first, second}).verdict.has_value());
}

TEST(BadInput, AMillionPointsAreTakenInBoundedMemory) {
  auto detector = make_period_detector();
  std::size_t iterations = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    TelemetryPoint point;
    const double t = 0.1 * i;
    point.at = TimePoint{} + Seconds(t);
    point.power = Watts(three_levels(t, 29));
    detector->add(point);
    iterations += detector->take_iterations().size();
  }
  const auto summary = detector->summary();
  EXPECT_EQ(summary.points, 1'000'000U);
  ASSERT_TRUE(summary.verdict && summary.verdict->periodic);
  EXPECT_NEAR(summary.verdict->period->value(), 29, 0.3);
  EXPECT_GT(iterations, 3000U);  // of 3448
}

}  // namespace
}  // namespace rubato::progress
