#include "govern/reference/gear_pid.h"

#include <gtest/gtest.h>

namespace rubato::govern {
namespace {

// 124 gears, as MF-GPOEO's RTX3080Ti.ini lists them.
constexpr std::size_t kGears = 124;

TEST(GearPid, FollowsThePublishedGainsOnAMadeLossCurve) {
  GearPid pid({}, kGears);
  // First: 2.8 x 0.7 x 0.047 = 9.2 % of 117.
  EXPECT_EQ(pid.next(117, 0.0), 106U);
  EXPECT_DOUBLE_EQ(pid.schedule(), 0.7);
  // Under the limit by less than four points: 2.8 x 0.75 x 0.037 + 0.002 x 0.084 = 7.8 % of 106.
  EXPECT_EQ(pid.next(106, 0.010), 98U);
  EXPECT_DOUBLE_EQ(pid.schedule(), 0.75);
  // 1.3 points over it: 2.8 x 1.75 x 0.013 = 6.4 % up, less 0.9 x 0.050 against the swing: 1.9 % of 98.
  EXPECT_EQ(pid.next(98, 0.060), 100U);
  EXPECT_DOUBLE_EQ(pid.schedule(), 1.75);
}

TEST(GearPid, JustAboveTheLimitTheGainIsFourfold) {
  GearPid pid({}, kGears);
  static_cast<void>(pid.next(100, 0.040));
  static_cast<void>(pid.next(99, 0.048));
  EXPECT_DOUBLE_EQ(pid.schedule(), 4);
  static_cast<void>(pid.next(99, 0.052));
  EXPECT_DOUBLE_EQ(pid.schedule(), 2.5);
  static_cast<void>(pid.next(99, 0.080));
  EXPECT_DOUBLE_EQ(pid.schedule(), 1);
}

TEST(GearPid, AFlatLossRaisesTheGainStepByStepUpToEight) {
  GearPid pid({}, kGears);
  std::size_t gear = 117;
  gear = pid.next(gear, 0.001);
  gear = pid.next(gear, 0.001);
  EXPECT_DOUBLE_EQ(pid.schedule(), 1.5);
  gear = pid.next(gear, 0.001);
  EXPECT_DOUBLE_EQ(pid.schedule(), 2.25);
  for (int i = 0; i < 10; ++i) gear = pid.next(gear, 0.001);
  EXPECT_DOUBLE_EQ(pid.schedule(), 8);
}

TEST(GearPid, AsPublishedARaisedGainStaysRaised) {
  for (const bool as_published : {false, true}) {
    GearPid pid({.gain_stays_raised = as_published}, kGears);
    static_cast<void>(pid.next(117, 0.001));
    static_cast<void>(pid.next(106, 0.001));
    static_cast<void>(pid.next(90, 0.060));
    static_cast<void>(pid.next(95, 0.020));
    EXPECT_DOUBLE_EQ(pid.schedule(), as_published ? 1.5 : 0.75);
  }
}

TEST(GearPid, ALossWithinOnePercentOfTheLimitKeepsTheGear) {
  GearPid pid({}, kGears);
  EXPECT_EQ(pid.next(80, 0.0468), 80U);
}

TEST(GearPid, AnErrorAlwaysMovesAtLeastOneGearAndNeverPastTheEnds) {
  GearPid above({}, kGears);
  EXPECT_EQ(above.next(3, 0.0471), 4U);
  GearPid below({}, kGears);
  EXPECT_EQ(below.next(3, 0.046), 2U);
  GearPid end({}, kGears);
  EXPECT_EQ(end.next(123, 0.5), 123U);
  EXPECT_EQ(end.next(0, -0.5), 0U);
}

}  // namespace
}  // namespace rubato::govern
