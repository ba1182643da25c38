#include "progress/period/events.h"

#include <gtest/gtest.h>

#include "progress/period/wave.h"

namespace rubato::progress {
namespace {

EventLikeness seen(double step_s, double true_period_s, double asked_s) {
  std::vector<TelemetryPoint> points;
  for (int i = 0; i < 600; ++i) {
    TelemetryPoint point;
    point.at = TimePoint{} + Seconds(step_s * i + 0.003);
    point.power = Watts(three_levels(step_s * i + 0.003, true_period_s));
    points.push_back(point);
  }
  const Samples samples = samples_of(points);
  const double end = step_s * 600;
  const Series series = resample(samples, 0, end, step_s, varying_columns(samples, 0, end));
  return likeness(events_of(fresh_readings(samples, series, {1.0}, 700), series, 2 * asked_s),
                  std::max(asked_s, 12 * step_s), asked_s, 0.1 * asked_s);
}

TEST(Events, APeriodThatIsNoWholeNumberOfReadingsIsNotAtADisadvantage) {
  // 5.3 readings in a period; ten periods would fall on the grid.
  const auto found = seen(0.1, 0.53, 0.53);
  EXPECT_GT(summary_of(found.stretches).median, 0.85);
  EXPECT_GT(found.odd, 0.6 * found.best);
}

TEST(Events, HalfAPeriodOfAnOddNumberOfReadingsHasNoOddPartners) {
  // 7 readings in a period: 3.5 in half of it, so only every second half falls on readings.
  const auto found = seen(0.1, 0.7, 0.35);
  EXPECT_LT(found.odd, 0.45 * found.best);
}

TEST(Events, TheWrongPeriodIsNotAlike) {
  EXPECT_LT(summary_of(seen(0.1, 0.53, 0.41).stretches).median, 0.45);
}

TEST(Events, NothingToCompareIsNoLikeness) {
  EXPECT_TRUE(likeness(std::vector<Events>{}, 1, 1, 0.1).stretches.empty());
}

}  // namespace
}  // namespace rubato::progress
