#include "progress/period/cycle_tracker.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "progress/period/wave.h"

namespace rubato::progress {
namespace {

Followed followed(double seconds, double period_s, const std::function<double(double)>& watts) {
  const Samples samples = samples_of(readings(seconds, 0.05, 2, watts));
  return follow(
      high_pass(resample(samples, 0, seconds, 0.05, varying_columns(samples, 0, seconds)), 2 * period_s),
      period_s);
}

TEST(CycleTracker, FollowsEveryCycle) {
  const Followed out = followed(60, 2, [](double t) { return three_levels(t, 2); });
  EXPECT_GE(out.cycles.size(), 27U);
  for (const auto& cycle : out.cycles) EXPECT_NEAR(cycle.length_s(), 2, 0.06);
  EXPECT_TRUE(out.late.empty());
  EXPECT_GT(out.alike, 0.95);
}

TEST(CycleTracker, AGuessSomePercentOffIsPutRight) {
  const Followed out = followed(60, 2.06, [](double t) { return three_levels(t, 2); });
  ASSERT_GE(out.cycles.size(), 20U);
  const double mean =
      (out.cycles.back().end_s - out.cycles.front().begin_s) / static_cast<double>(out.cycles.size());
  EXPECT_NEAR(mean, 2, 0.01);
}

TEST(CycleTracker, AStallIsOneLateCycleAndNoMore) {
  // Five seconds late, once.
  const Followed out = followed(80, 2, [](double t) {
    if (t > 40 && t < 45) return 120.0;
    return three_levels(t < 40 ? t : t - 45, 2);
  });
  ASSERT_EQ(out.late.size(), 1U);
  EXPECT_NEAR(out.late.front().length_s(), 7, 0.3);
  EXPECT_GE(out.cycles.size(), 33U);
  for (const auto& cycle : out.cycles) EXPECT_NEAR(cycle.length_s(), 2, 0.1);
}

TEST(CycleTracker, SaysWhereTheTraceStopsLookingLikeThis) {
  Random random(4);
  const Followed out =
      followed(100, 2, [&](double t) { return t < 50 ? three_levels(t, 2) : 200 + 60 * random.normal(); });
  ASSERT_TRUE(out.lost_at_s.has_value());
  EXPECT_NEAR(*out.lost_at_s, 50, 4);
}

TEST(CycleTracker, TooShortASeriesHasNoCycles) {
  EXPECT_TRUE(followed(3, 2, [](double t) { return three_levels(t, 2); }).cycles.empty());
}

TEST(CycleTracker, FollowsOnFromMarksAtTheSamePlaceOfTheCycle) {
  const auto watts = [](double t) { return three_levels(t, 2); };
  const Samples samples = samples_of(readings(60, 0.05, 2, watts));
  const Series level = high_pass(resample(samples, 0, 60, 0.05, varying_columns(samples, 0, 60)), 4);
  const Followed out = follow_on(level, 2, {20.3, 22.3, 24.3});
  ASSERT_GE(out.cycles.size(), 16U);
  EXPECT_NEAR(out.cycles.front().begin_s, 24.3, 1e-6);
  EXPECT_NEAR(out.cycles.back().end_s - 2 * std::floor(out.cycles.back().end_s / 2), 0.3, 0.1);
  for (std::size_t i = 1; i < out.cycles.size(); ++i)
    EXPECT_DOUBLE_EQ(out.cycles[i].begin_s, out.cycles[i - 1].end_s);
  EXPECT_TRUE(follow_on(level, 2, {}).cycles.empty());
}

}  // namespace
}  // namespace rubato::progress
