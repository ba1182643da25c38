#include "progress/period/series.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "progress/period/wave.h"

namespace rubato::progress {
namespace {

TEST(Series, AShortHoleIsBridgedAndALongOneIsUnknown) {
  Samples samples;
  for (int i = 0; i < 200; ++i) {
    if ((i > 50 && i < 53) || (i > 100 && i < 150)) continue;
    TelemetryPoint point;
    point.at = TimePoint{} + Seconds(0.1 * i + 0.05);
    point.power = Watts(i);
    samples.add(point);
  }
  const Series series = resample(samples, 0, 20, 0.1, varying_columns(samples, 0, 20));
  ASSERT_EQ(series.columns.size(), 1U);
  EXPECT_NEAR(series.columns[0][51], 51, 1.1);
  EXPECT_EQ(series.known[0][51], 1);
  EXPECT_EQ(series.known[0][125], 0);
}

TEST(Series, AColumnThatNeverChangesIsLeftOut) {
  const Samples samples = samples_of(readings(10, 0.1, 0, [](double) { return 70.0; }));
  EXPECT_TRUE(resample(samples, 0, 10, 0.1, varying_columns(samples, 0, 10)).columns.empty());
}

TEST(Series, AWindowOfOnePeriodTakesTheSlowPartOffAndLeavesTheCycle) {
  const auto cycle = [](double t) { return three_levels(t, 2.0); };
  const Samples samples = samples_of(readings(40, 0.05, 0, [&](double t) { return cycle(t) + 3 * t; }));
  const Series level = high_pass(resample(samples, 0, 40, 0.1, varying_columns(samples, 0, 40)), 2.0);
  // The mean of a cycle is 0.4 * 200 + 0.35 * 260 + 0.25 * 120 = 201 W.
  EXPECT_NEAR(level.columns[0][205], cycle(20.55) - 201, 4);
  EXPECT_NEAR(level.columns[0][219], cycle(21.95) - 201, 4);
}

TEST(Series, TheWindowMayEndBetweenGridPoints) {
  const Samples samples = samples_of(readings(30, 0.02, 0, [](double t) { return three_levels(t, 0.75); }));
  const Series level = smooth(resample(samples, 0, 30, 0.1, varying_columns(samples, 0, 30)), 0.75);
  const auto& x = level.columns[0];
  const auto [low, high] = std::minmax_element(x.begin() + 10, x.end() - 10);
  EXPECT_LT(*high - *low, 14);  // a tenth of the swing: the readings fall unevenly
}

}  // namespace
}  // namespace rubato::progress
