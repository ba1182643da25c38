#include "progress/period/series.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

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

TEST(Series, AMovingAverageIsTheMeanOfItsWindowHoweverWide) {
  const Samples samples =
      samples_of(readings(12, 0.1, 20, [](double t) { return three_levels(t, 1.7) + 5 * t; }));
  const Series series = resample(samples, 0, 12, 0.1, varying_columns(samples, 0, 12));
  const auto& x = series.columns[0];
  const auto n = static_cast<double>(x.size());
  for (const double width : {1.0, 1.5, 2.0, 7.3, 60.0, 100.5, n - 0.5, n, 3 * n}) {
    const Series level = smooth(series, width * series.step_s);
    const double whole = std::min(width, n);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double from = std::clamp(static_cast<double>(i) + 0.5 - 0.5 * whole, 0.0, n - whole);
      double sum = 0;
      for (std::size_t j = 0; j < x.size(); ++j) {
        const auto at = static_cast<double>(j);
        sum += x[j] * std::clamp(std::min(at + 1, from + whole) - std::max(at, from), 0.0, 1.0);
      }
      ASSERT_NEAR(level.columns[0][i], sum / whole, 1e-6) << "width " << width << " at " << i;
    }
  }
}

/// Power that is new each 0.1 s, and a nearly saturated utilisation that is new each second; read each 0.02
/// s.
Samples saturated() {
  Samples samples;
  Random random(3);
  double watts = 0;
  double busy = 1;
  for (int i = 0; i < 2000; ++i) {
    if (i % 5 == 0) watts = three_levels(0.02 * i, 1.3) + random.normal();
    if (i % 50 == 0) busy = random.uniform() < 0.5 ? 1.0 : 0.99;
    TelemetryPoint point;
    point.at = TimePoint{} + Seconds(0.02 * i);
    point.power = Watts(watts);
    point.sm_utilisation = busy;
    point.sm_clock = Megahertz(i % 3 == 0 ? 1395 : 1410);
    samples.add(point);
  }
  return samples;
}

TEST(Series, AUtilisationOfFewLevelsIsAsSlowAsItChanges) {
  const Samples samples = saturated();
  EXPECT_FALSE(samples.hold_s(Column::sm_utilisation).has_value());
  EXPECT_NEAR(samples.longest_hold_s(Column::sm_utilisation), 1.0, 1e-6);
  const Series series = resample(samples, 0, 40, 0.1, varying_columns(samples, 0, 40));
  EXPECT_EQ(std::count(series.which.begin(), series.which.end(), Column::sm_utilisation), 0);
}

TEST(Series, ThePowerIsNeverLeftOutForAFasterColumn) {
  const Samples samples = saturated();
  const Series series = resample(samples, 0, 40, 0.02, varying_columns(samples, 0, 40));
  EXPECT_EQ(std::count(series.which.begin(), series.which.end(), Column::power), 1);
  EXPECT_EQ(std::count(series.which.begin(), series.which.end(), Column::sm_clock), 1);
}

}  // namespace
}  // namespace rubato::progress
