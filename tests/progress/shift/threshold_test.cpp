#include "progress/shift/threshold.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <deque>

#include "base/random.h"
#include "progress/shift/baseline.h"

namespace rubato::progress {
namespace {

/// Readings until some mean of the latest 3 to 60 is off by `threshold` of its standard errors.
double readings_to_alarm(double threshold, Random& random) {
  std::deque<double> latest;
  for (int n = 1;; ++n) {
    latest.push_front(random.normal());
    if (latest.size() > 60) latest.pop_back();
    double sum = 0;
    for (std::size_t m = 1; m <= latest.size(); ++m) {
      sum += latest[m - 1];
      if (m >= 3 && std::abs(sum) >= threshold * std::sqrt(static_cast<double>(m))) return n;
    }
  }
}

TEST(Threshold, TheFormulaGivesTheReadingsBetweenFalseAlarms) {
  Random random(7);
  double sum = 0;
  constexpr int kRuns = 300;
  for (int i = 0; i < kRuns; ++i) sum += readings_to_alarm(3.6, random);
  const double formula = readings_between_alarms(3.6, 3, 60);
  // An asymptotic formula, and a mean of 300 exponential times: 6 % standard error.
  EXPECT_NEAR(sum / kRuns / formula, 1, 0.3);
}

TEST(Threshold, IsTheInverseOfTheFormula) {
  const double threshold = threshold_for(108000, 3, 60);
  EXPECT_NEAR(readings_between_alarms(threshold, 3, 60) / 108000, 1, 1e-6);
  EXPECT_GT(threshold, 4);
  EXPECT_LT(threshold, 6);
}

TEST(Threshold, StudentsQuantilesMatchTheTables) {
  EXPECT_NEAR(as_student(1.959964, 10), 2.228, 0.005);
  EXPECT_NEAR(as_student(1.959964, 4), 2.776, 0.02);
  EXPECT_NEAR(as_student(3.290527, 20), 3.850, 0.005);  // 99.95 %
  EXPECT_NEAR(as_student(5, 1e6), 5, 1e-3);
}

TEST(Threshold, TheMeanOfNeighboursVariesAsTheirCorrelationsSay) {
  EXPECT_DOUBLE_EQ(variance_of_mean(0, 4), 0.25);
  // (1 + 2 (1/2) 0.5) / 2
  EXPECT_DOUBLE_EQ(variance_of_mean(0.5, 2), 0.75);
  // (1 + 2 (2/3 0.9 + 1/3 0.81)) / 3
  EXPECT_NEAR(variance_of_mean(0.9, 3), 0.9133333, 1e-6);
}

TEST(Threshold, ThreeOfThreeWithOneInTenIsOneInAThousand) {
  EXPECT_NEAR(log_chance_of_hits(3, 3, 0.1), std::log(1e-3), 1e-9);
  EXPECT_NEAR(log_chance_of_hits(2, 3, 0.1), std::log(3e-2), 1e-9);
}

std::vector<SignalPoint> autoregression(double correlation, std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<SignalPoint> points;
  double state = random.normal();
  for (std::size_t i = 0; i < count; ++i) {
    const TimePoint begin = TimePoint{} + Seconds(static_cast<double>(i));
    points.push_back({begin, begin + Seconds(1), 5 + 0.01 * state});
    state = correlation * state + std::sqrt(1 - correlation * correlation) * random.normal();
  }
  return points;
}

TEST(Baseline, FindsTheNoiseOfCorrelatedReadings) {
  for (const double r : {0.0, 0.5, 0.9}) {
    const Baseline baseline(autoregression(r, 512, 3));
    EXPECT_NEAR(baseline.correlation(), r, 0.12) << r;
    EXPECT_NEAR(baseline.spread(), 0.01, 0.004) << r;
    EXPECT_NEAR(baseline.expected(512), 5, 0.006) << r;
  }
}

TEST(Baseline, AFewStallsDoNotMoveTheLevelOrTheNoise) {
  auto points = autoregression(0, 200, 5);
  const Baseline clean(points);
  for (std::size_t i = 7; i < points.size(); i += 40) points[i].y += 2;
  const Baseline stalled(points);
  EXPECT_NEAR(stalled.expected(200), clean.expected(200), 0.002);
  EXPECT_NEAR(stalled.spread() / clean.spread(), 1, 0.2);
  EXPECT_GT(stalled.chance_beyond(1, 1), 0.02);
  EXPECT_LT(clean.chance_beyond(1, 1), 1e-5);
}

TEST(Baseline, FollowsASlowDriftAndNoFasterOne) {
  auto points = autoregression(0, 400, 9);
  for (std::size_t i = 0; i < points.size(); ++i) points[i].y += 0.005 / 60 * static_cast<double>(i);
  const Baseline slow(points);
  EXPECT_NEAR(slow.expected(460) - slow.expected(400), 0.005, 0.001);
  for (std::size_t i = 0; i < points.size(); ++i) points[i].y += 0.05 / 60 * static_cast<double>(i);
  const Baseline fast(points);
  EXPECT_NEAR(fast.expected(460) - fast.expected(400), 0.01, 1e-9);
}

}  // namespace
}  // namespace rubato::progress
