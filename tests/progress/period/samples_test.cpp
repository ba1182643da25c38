#include "progress/period/samples.h"

#include <gtest/gtest.h>

#include <limits>

#include "progress/period/wave.h"

namespace rubato::progress {
namespace {

TelemetryPoint at(double seconds, double watts) {
  TelemetryPoint point;
  point.at = TimePoint{} + Seconds(seconds);
  point.power = Watts(watts);
  return point;
}

TEST(Samples, DropsWhatIsNotLaterNotFiniteOrNotPossibleAndCountsIt) {
  Samples samples;
  EXPECT_TRUE(samples.add(at(1, 100)));
  EXPECT_FALSE(samples.add(at(1, 100)));
  EXPECT_FALSE(samples.add(at(0.5, 100)));
  EXPECT_FALSE(samples.add(at(2, std::numeric_limits<double>::quiet_NaN())));
  EXPECT_FALSE(samples.add(at(2, -5)));
  EXPECT_FALSE(samples.add(TelemetryPoint{TimePoint{} + Seconds(2), {}, {}, {}, {}}));
  EXPECT_TRUE(samples.add(at(2, 100)));
  EXPECT_EQ(samples.used(), 2U);
  EXPECT_EQ(samples.dropped(), 5U);
}

TEST(Samples, AColumnThatIsNotANumberDoesNotTakeTheOthersWithIt) {
  Samples samples;
  TelemetryPoint point = at(1, 100);
  point.sm_utilisation = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(samples.add(point));
  EXPECT_EQ(samples.column(Column::power).size(), 1U);
  EXPECT_TRUE(samples.column(Column::sm_utilisation).empty());
}

TEST(Samples, KeepsABoundedPartOfALongTrace) {
  Samples samples;
  for (int i = 0; i < 20000; ++i) samples.add(at(0.1 * i, 100));
  EXPECT_EQ(samples.used(), 20000U);
  EXPECT_LT(samples.column(Column::power).size(), 10000U);
  EXPECT_GT(samples.begin_s(), 1000);
}

TEST(Samples, TellsTheSensorsHoldFromTheReadingPace) {
  Random random(2);
  Samples samples;
  double held = 0;
  for (int i = 0; i < 600; ++i) {
    if (i % 5 == 0) held = 200 + 20 * random.normal();
    samples.add(at(0.02 * i, held));
  }
  EXPECT_NEAR(*samples.reading_period_s(), 0.02, 1e-6);
  EXPECT_NEAR(*update_period_s(samples.column(Column::power)), 0.1, 1e-6);
  EXPECT_NEAR(*samples.hold_s(Column::power), 0.1, 1e-6);
}

TEST(Samples, LearnTheHoldAnewWhereReadingsHaveCome) {
  Random random(2);
  Samples samples;
  for (int i = 0; i < 40; ++i) samples.add(at(0.05 * i, 200 + 20 * random.normal()));
  EXPECT_NEAR(*samples.hold_s(Column::power), 0.05, 1e-6);
  double held = 0;
  for (int i = 40; i < 700; ++i) {
    if (i % 4 == 0) held = 200 + 20 * random.normal();
    samples.add(at(0.05 * i, held));
  }
  EXPECT_NEAR(*samples.hold_s(Column::power), 0.2, 1e-6);
}

}  // namespace
}  // namespace rubato::progress
