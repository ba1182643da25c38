#include "progress/period/overtones.h"

#include <gtest/gtest.h>

#include "progress/period/wave.h"

namespace rubato::progress {
namespace {

constexpr double kSeconds = 60;
constexpr double kUpdate = 0.1;
constexpr int kParts = 20;

Overtones overtones(double period_s, const std::function<double(double)>& watts) {
  Samples samples;  // a sensor's updates do not wander, as a reader's looks do
  Random random(1);
  for (int i = 0; i < kSeconds / kUpdate; ++i) {
    TelemetryPoint point;
    point.at = TimePoint{} + Seconds(i * kUpdate);
    double sum = 0;  // of the whole update
    for (int part = 0; part < kParts; ++part) sum += watts((i + (part + 0.5) / kParts) * kUpdate);
    point.power = Watts(sum / kParts + 0.5 * random.normal());
    samples.add(point);
  }
  const Series level =
      high_pass(resample(samples, 0, kSeconds, kUpdate, varying_columns(samples, 0, kSeconds)), 2 * period_s);
  return overtones_of(level, period_s);
}

/// Cycles of 8.5 readings: every second one is read at the same places.
double off_the_grid(double t) {
  return three_levels(t, 0.85);
}

double by_turns(double t) {
  return std::fmod(t, 1.7) < 0.85 ? three_levels(t, 0.85) : 0.9 * three_levels(t, 0.85);
}

TEST(Overtones, OfTwiceACycleOffTheGridHardlyAnyLieWhereAnAlternationWouldShow) {
  EXPECT_LT(overtones(1.7, off_the_grid).no_half, -4);
  EXPECT_LT(overtones(0.85, off_the_grid).half, -4);
}

TEST(Overtones, OfCyclesByTurnsTheyDo) {
  EXPECT_GT(overtones(1.7, by_turns).no_half, -3.5);
  EXPECT_GT(overtones(0.85, by_turns).half, -3.5);
}

TEST(Overtones, OfTheCycleItselfNoPartWouldDo) {
  const Overtones of_it = overtones(0.85, off_the_grid);
  EXPECT_GT(of_it.no_half, -1.5);
  EXPECT_GT(of_it.no_third, -1.5);
  EXPECT_LT(overtones(2.55, off_the_grid).no_third, -4);
}

TEST(Overtones, OfTooFewCyclesAreUnknown) {
  EXPECT_EQ(overtones(13, off_the_grid).half, kUnknownOvertones);
}

}  // namespace
}  // namespace rubato::progress
