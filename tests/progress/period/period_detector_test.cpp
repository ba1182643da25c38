#include "progress/period/period_detector.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "progress/period/wave.h"

namespace rubato::progress {
namespace {

std::unique_ptr<PeriodDetector> fed(const std::vector<TelemetryPoint>& points) {
  auto detector = make_period_detector();
  for (const auto& point : points) detector->add(point);
  return detector;
}

PeriodSummary summary_of(const std::vector<TelemetryPoint>& points) {
  return fed(points)->summary();
}

void expect_period(const PeriodSummary& summary, double period_s) {
  ASSERT_TRUE(summary.verdict.has_value());
  ASSERT_TRUE(summary.verdict->periodic) << summary.verdict->why;
  EXPECT_NEAR(summary.verdict->period->value() / period_s, 1, 0.02) << summary.verdict->why;
}

class EveryPeriod : public ::testing::TestWithParam<double> {};

TEST_P(EveryPeriod, IsFoundWithinTwoPercentOfThreeLevels) {
  const double period = GetParam();
  expect_period(summary_of(readings(std::max(40.0, 6 * period), 0.05, 3,
                                    [&](double t) { return three_levels(t, period); })),
                period);
}

INSTANTIATE_TEST_SUITE_P(PeriodDetector, EveryPeriod,
                         ::testing::Values(0.27, 0.5, 0.83, 1.3, 2.1, 3.7, 6.1, 11.3, 19.0, 29.0));

TEST(PeriodDetector, DecidesWithinSixIterationsOrEightSeconds) {
  const auto quick = summary_of(readings(40, 0.05, 3, [](double t) { return three_levels(t, 0.7); }));
  ASSERT_TRUE(quick.decided_after.has_value());
  EXPECT_LE(quick.decided_after->value(), 8);
  const auto slow = summary_of(readings(120, 0.05, 3, [](double t) { return three_levels(t, 9); }));
  ASSERT_TRUE(slow.decided_after.has_value());
  EXPECT_LE(slow.decided_after->value(), 54);
}

TEST(PeriodDetector, TheIterationIsTheAnswerNotItsMicroBatches) {
  // Six micro-batches of half a second, then a second of optimizer.
  expect_period(summary_of(readings(80, 0.05, 3,
                                    [](double t) {
                                      const double inside = t - 4 * std::floor(t / 4);
                                      return inside < 3 ? three_levels(inside, 0.5) : 95.0;
                                    })),
                4);
}

TEST(PeriodDetector, TheIterationIsTheAnswerNotTheEpoch) {
  // Forty iterations of 0.6 s, then five seconds of evaluation.
  expect_period(summary_of(readings(120, 0.05, 3,
                                    [](double t) {
                                      const double inside = t - 29 * std::floor(t / 29);
                                      return inside < 24 ? three_levels(inside, 0.6) : 110.0;
                                    })),
                0.6);
}

TEST(PeriodDetector, AStallIsLeftOut) {
  expect_period(summary_of(readings(90, 0.05, 3,
                                    [](double t) {
                                      // Every 20 s the loader is 3 s late.
                                      const double inside = t - 23 * std::floor(t / 23);
                                      return inside < 20 ? three_levels(inside, 2) : 75.0;
                                    })),
                2);
}

TEST(PeriodDetector, FollowsAChangeOfClock) {
  // From 30 s on everything takes 1.4 times as long, to the end at 100 s: 15 iterations of 2 s, 25 of 2.8 s.
  const auto summary = summary_of(readings(
      100, 0.05, 3, [](double t) { return t < 30 ? three_levels(t, 2) : 0.8 * three_levels(t - 30, 2.8); }));
  expect_period(summary, 2.8);
  ASSERT_TRUE(summary.last.has_value());
  EXPECT_NEAR(summary.last->value(), 2.8, 0.06);
  ASSERT_TRUE(summary.first.has_value());
  EXPECT_NEAR(summary.first->value(), 2.0, 0.06);
}

TEST(PeriodDetector, IdleTimeBeforeTheTrainingDoesNotHide) {
  expect_period(
      summary_of(readings(60, 0.05, 3, [](double t) { return t < 9 ? 55.0 : three_levels(t - 9, 1.5); })),
      1.5);
}

TEST(PeriodDetector, ASensorThatHoldsIsNoObstacle) {
  expect_period(summary_of(readings(60, 0.02, 0,
                                    [](double t) {
                                      // A value every 100 ms, read every 20 ms.
                                      return three_levels(std::floor(t * 10) / 10, 1.37);
                                    })),
                1.37);
}

TEST(PeriodDetector, ColumnsMayComeAtDifferentPaces) {
  std::vector<TelemetryPoint> points = readings(60, 0.05, 3, [](double t) { return three_levels(t, 1.5); });
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (i % 20 == 0) points[i].sm_clock = Megahertz(1410);
    if (i % 7 != 0) points[i].power.reset();
    points[i].sm_utilisation = three_levels(points[i].at.since_epoch().value(), 1.5) > 150 ? 1.0 : 0.2;
  }
  expect_period(summary_of(points), 1.5);
}

void expect_none(const std::vector<TelemetryPoint>& points) {
  const auto summary = summary_of(points);
  ASSERT_TRUE(summary.verdict.has_value());
  EXPECT_FALSE(summary.verdict->periodic) << summary.verdict->why;
  EXPECT_LE(summary.verdict->confidence, 0.9);
}

TEST(PeriodDetector, NoiseHasNoPeriod) {
  expect_none(readings(60, 0.05, 4, [](double) { return 250.0; }));
}

TEST(PeriodDetector, AConstantHasNoPeriod) {
  expect_none(readings(60, 0.05, 0, [](double) { return 0.0; }));
}

TEST(PeriodDetector, WorkOfRandomLengthHasNoPeriod) {
  Random random(8);
  std::vector<double> ends{0};
  while (ends.back() < 100) ends.push_back(ends.back() - 1.5 * std::log(1 - random.uniform()));
  expect_none(readings(90, 0.05, 3, [&](double t) {
    const auto k = std::upper_bound(ends.begin(), ends.end(), t) - ends.begin();
    return k % 2 == 0 ? 240.0 : 90.0;
  }));
}

TEST(PeriodDetector, AFanIsNotTheIteration) {
  expect_none(readings(150, 0.1, 3, [](double t) { return 220 + 8 * std::sin(t / 4); }));
  expect_period(
      summary_of(readings(150, 0.1, 3, [](double t) { return three_levels(t, 1.9) + 12 * std::sin(t / 4); })),
      1.9);
}

TEST(PeriodDetector, IterationsAreHandedOnOnceAndInOrder) {
  const auto points = readings(120, 0.05, 3, [](double t) { return three_levels(t, 2); });
  auto detector = make_period_detector();
  std::vector<Iteration> all;
  for (const auto& point : points) {
    detector->add(point);
    for (const auto& iteration : detector->take_iterations()) all.push_back(iteration);
  }
  ASSERT_GE(all.size(), 48U);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].index, static_cast<std::int64_t>(i));
    EXPECT_EQ(all[i].source, ProgressSource::telemetry);
    EXPECT_NEAR(all[i].duration().value(), 2, 0.1);
    if (i > 0) {
      EXPECT_GE(all[i].begin.ns, all[i - 1].end.ns - 1000);
    }
  }
  EXPECT_TRUE(detector->take_iterations().empty());
}

TEST(PeriodDetector, OfACleanMinuteAllIterationsButThoseAtItsEndsAreFollowed) {
  const auto points = readings(60, 0.05, 3, [](double t) { return three_levels(t, 2); });
  auto detector = make_period_detector();
  for (const auto& point : points) detector->add(point);
  const auto all = detector->take_iterations();
  ASSERT_GE(all.size(), 26U);
  for (std::size_t i = 1; i < all.size(); ++i) EXPECT_EQ(all[i].begin.ns, all[i - 1].end.ns);
  EXPECT_GE(all.back().end.since_epoch().value(), 55);
}

TEST(PeriodDetector, SaysHowWellItKnowsThePeriodAndThatItDrifts) {
  // Longer by 4 % a minute.
  const auto drifting = summary_of(readings(
      120, 0.05, 3, [](double t) { return three_levels(std::log(1 + 0.04 * t / 60) * 60 / 0.04, 1.7); }));
  ASSERT_TRUE(drifting.verdict && drifting.verdict->periodic);
  ASSERT_TRUE(drifting.verdict->half_width.has_value());
  EXPECT_GT(*drifting.verdict->half_width, 0);
  EXPECT_LT(*drifting.verdict->half_width, 0.03);
  ASSERT_TRUE(drifting.verdict->drift_per_minute.has_value());
  EXPECT_NEAR(*drifting.verdict->drift_per_minute, 0.04, 0.01);
  const auto steady = summary_of(readings(120, 0.05, 3, [](double t) { return three_levels(t, 1.7); }));
  ASSERT_TRUE(steady.verdict && steady.verdict->periodic);
  EXPECT_FALSE(steady.verdict->drift_per_minute.has_value());
}

}  // namespace
}  // namespace rubato::progress
