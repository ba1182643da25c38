#include "progress/gpoeo/gpoeo_detector.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "base/random.h"
#include "progress/detectors.h"

namespace rubato::progress {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

TelemetryPoint point(double time, double load) {
  return {.at = TimePoint{} + Seconds(time),
          .power = Watts(60 + 180 * load),
          .sm_utilisation = load,
          .memory_utilisation = load / 2};
}

/// Two thirds busy.
double square(double time, double period) {
  return std::fmod(time, period) < period * 2 / 3 ? 0.9 : 0.1;
}

std::unique_ptr<PeriodDetector> fresh() {
  return find_detector("gpoeo").value()->make({});
}

TEST(Detectors, AreFoundByNameAndListedInTheError) {
  EXPECT_EQ(fresh()->name(), "gpoeo");
  const auto none = find_detector("magic");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().what, HasSubstr("magic"));
  EXPECT_THAT(none.error().hint, HasSubstr("gpoeo"));
  for (const DetectorKind& kind : detectors()) EXPECT_EQ(kind.make({})->name(), kind.name);
}

TEST(GpoeoDetector, DecidesOnASquareWaveAfterItsFirstWindow) {
  const auto detector = fresh();
  Random random(1);
  for (double time = 0; time < 24.9; time += random.uniform(0.03, 0.07))
    detector->add(point(time, square(time, 3)));
  EXPECT_FALSE(detector->estimate()) << "it looks first after 25 s";
  for (double time = 25; time < 60; time += random.uniform(0.03, 0.07))
    detector->add(point(time, square(time, 3)));
  ASSERT_TRUE(detector->estimate());
  EXPECT_TRUE(detector->estimate()->periodic);
  const PeriodSummary summary = detector->summary();
  EXPECT_NEAR(summary.decided_after->value(), 25, 0.2);
  EXPECT_NEAR(summary.first->value(), 3, 0.1);
  EXPECT_NEAR(summary.verdict->period->value(), 3, 0.1);
  EXPECT_THAT(detector->take_iterations(), IsEmpty());
}

TEST(GpoeoDetector, SlowReadingsAreHeldBetweenItsOwnTicks) {
  const auto detector = fresh();
  for (double time = 0; time < 60; time += 0.5) detector->add(point(time, square(time, 4)));
  ASSERT_TRUE(detector->estimate());
  EXPECT_NEAR(detector->estimate()->period->value(), 4, 0.1);
}

TEST(GpoeoDetector, APeriodThatChangedIsFollowedByLaterMeasurements) {
  const auto detector = fresh();
  for (double time = 0; time < 40; time += 0.05) detector->add(point(time, square(time, 3)));
  for (double time = 40; time < 120; time += 0.05) detector->add(point(time, square(time - 40, 2)));
  const PeriodSummary summary = detector->summary();
  EXPECT_NEAR(summary.first->value(), 3, 0.1);
  EXPECT_NEAR(summary.last->value(), 2, 0.1);
}

TEST(GpoeoDetector, GivesUpOnARandomLoadAndStaysThere) {
  const auto detector = fresh();
  Random random(2);
  double level = 0.5;
  for (int i = 0; i < 4000; ++i) {
    if (random.uniform() < 0.03) level = random.uniform();
    detector->add(point(i * 0.05, level));
  }
  ASSERT_TRUE(detector->estimate());
  EXPECT_FALSE(detector->estimate()->periodic);
  EXPECT_FALSE(detector->estimate()->period);
  const TimePoint said = detector->estimate()->at;
  for (int i = 4000; i < 6000; ++i) detector->add(point(i * 0.05, square(i * 0.05, 3)));
  EXPECT_EQ(detector->estimate()->at, said);
}

TEST(GpoeoDetector, AShortTraceIsUndecidedAndSaysWhy) {
  const auto detector = fresh();
  EXPECT_FALSE(detector->summary().verdict);
  detector->add(point(0, 0.5));
  const PeriodSummary summary = detector->summary();
  EXPECT_FALSE(summary.verdict);
  EXPECT_EQ(summary.points, 1U);
  EXPECT_THAT(summary.notes, Contains(HasSubstr("25 s")));
}

TEST(GpoeoDetector, DropsAndCountsWhatIsNoLaterPointOrNoNumber) {
  const auto detector = fresh();
  detector->add(point(1, 0.5));
  detector->add(point(1, 0.6));
  detector->add(point(0.5, 0.6));
  detector->add(point(2, std::numeric_limits<double>::quiet_NaN()));
  detector->add(point(3, 0.6));
  EXPECT_EQ(detector->summary().points, 2U);
  EXPECT_EQ(detector->summary().dropped, 3U);
}

TEST(GpoeoDetector, APauseBeginsTheMeasurementAnewHoweverLong) {
  const auto detector = fresh();
  for (double time = 0; time < 20; time += 0.05) detector->add(point(time, square(time, 3)));
  constexpr double kYear = 3.2e7;
  for (double time = 0; time < 20; time += 0.05) detector->add(point(kYear + time, square(time, 3)));
  EXPECT_FALSE(detector->estimate());
  EXPECT_THAT(detector->summary().notes, Contains(HasSubstr("1 gap")));
}

TEST(GpoeoDetector, AConstantZeroIsNoPeriod) {
  const auto detector = fresh();
  for (int i = 0; i < 4000; ++i)
    detector->add(
        {.at = TimePoint{} + Seconds(i * 0.05), .power = 0_W, .sm_utilisation = 0, .memory_utilisation = 0});
  const auto verdict = detector->summary().verdict;
  ASSERT_TRUE(verdict);
  EXPECT_FALSE(verdict->periodic);
}

}  // namespace
}  // namespace rubato::progress
