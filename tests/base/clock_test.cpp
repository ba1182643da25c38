#include "base/clock.h"

#include <gtest/gtest.h>

namespace rubato {
namespace {

TEST(TimePoint, AddsAndSubtractsSecondsToTheNanosecond) {
  const TimePoint t{1'000};
  EXPECT_EQ((t + 1_s).ns, 1'000'001'000);
  EXPECT_EQ((t - 1_s).ns, -999'999'000);
  EXPECT_DOUBLE_EQ(((t + 0.25_s) - t).value(), 0.25);
}

TEST(VirtualClock, MovesOnlyWhenToldAndNeverBack) {
  VirtualClock clock;
  clock.advance(2_s);
  clock.advance_to(TimePoint{} + 1_s);
  EXPECT_EQ(clock.now(), TimePoint{} + 2_s);
  EXPECT_EQ(clock.wall(10_s), 0_s);
}

TEST(ScaledClock, AtRateOneIsTheRealClock) {
  const RealClock real;
  const ScaledClock scaled(real.now(), 1.0);
  const TimePoint before = real.now();
  const TimePoint now = scaled.now();
  const TimePoint after = real.now();
  // Both pass through a double, good to a few hundred nanoseconds.
  EXPECT_GE(now.ns, before.ns - 1'000);
  EXPECT_LE(now.ns, after.ns + 1'000);
}

TEST(ScaledClock, RunsFasterByItsRateAndWaitsShorterOnTheWall) {
  const RealClock real;
  const ScaledClock scaled(real.now(), 1000.0);
  EXPECT_DOUBLE_EQ(scaled.wall(5_s).value(), 0.005);
  const TimePoint real_before = real.now();
  const TimePoint scaled_before = scaled.now();
  sleep_until(scaled, scaled_before + 2_s);
  EXPECT_GE(scaled.now(), scaled_before + 2_s);
  EXPECT_GE(real.now() - real_before, 0.0019_s);
}

}  // namespace
}  // namespace rubato
