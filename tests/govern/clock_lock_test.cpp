#include "govern/clock_lock.h"

#include <gmock/gmock.h>

namespace rubato::govern {
namespace {

using testing::HasSubstr;

Observation under_load(double at_s, Megahertz clock, std::optional<LimiterReasons> limiter) {
  Observation o;
  o.now = TimePoint{} + Seconds(at_s);
  o.under_load = true;
  o.highest_sm_clock = 1380_MHz;
  o.state = SlowReading{.at = o.now, .sm_clock = clock, .limiter = limiter};
  return o;
}

std::optional<std::string> verdict(Megahertz clock, std::optional<LimiterReasons> limiter) {
  ClockLockEvidence evidence;
  for (int i = 0; i < 3; ++i) evidence.look(under_load(i, clock, limiter));
  return evidence.objection();
}

TEST(ClockLock, TheHighestClockMeansNoLock) {
  EXPECT_FALSE(verdict(1380_MHz, LimiterReasons{}));
}

TEST(ClockLock, AFewStepsBelowMeansNoLock) {
  EXPECT_FALSE(verdict(1350_MHz, LimiterReasons{}));
}

TEST(ClockLock, ALowClockThatALimiterExplainsMeansNoLock) {
  EXPECT_FALSE(verdict(1005_MHz, LimiterReasons{.power_cap = true}));
  EXPECT_FALSE(verdict(1005_MHz, LimiterReasons{.thermal = true}));
  EXPECT_FALSE(verdict(1005_MHz, LimiterReasons{.other = true})) << "voltage";
}

TEST(ClockLock, ALowClockWithoutAReasonIsSuspectedAndTheRemedyNamed) {
  const auto objection = verdict(1005_MHz, LimiterReasons{});
  ASSERT_TRUE(objection);
  EXPECT_THAT(*objection, HasSubstr("1005 MHz"));
  EXPECT_THAT(*objection, HasSubstr("1380 MHz"));
  EXPECT_THAT(*objection, HasSubstr("--found-sm-clock MIN:MAX"));
}

TEST(ClockLock, ClocksAskedForBySomebodyAreNoExcuse) {
  EXPECT_TRUE(verdict(1005_MHz, LimiterReasons{.user_clocks = true}));
  EXPECT_TRUE(verdict(1005_MHz, std::nullopt));
}

TEST(ClockLock, OneReadingSeenTwiceIsTooLittleToTell) {
  ClockLockEvidence evidence;
  evidence.look(under_load(1, 1380_MHz, LimiterReasons{}));
  evidence.look(under_load(1, 1380_MHz, LimiterReasons{}));
  EXPECT_EQ(evidence.readings(), 1);
  EXPECT_THAT(evidence.objection().value_or(""), HasSubstr("could not be read"));
}

TEST(ClockLock, AnIdleGpuTellsNothing) {
  ClockLockEvidence evidence;
  Observation idle = under_load(1, 135_MHz, LimiterReasons{});
  idle.under_load = false;
  evidence.look(idle);
  evidence.look(under_load(2, 135_MHz, LimiterReasons{.idle = true}));
  EXPECT_EQ(evidence.readings(), 0);
}

}  // namespace
}  // namespace rubato::govern
