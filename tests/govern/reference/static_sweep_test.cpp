#include "govern/reference/static_sweep.h"

#include <gmock/gmock.h>

#include "govern/reference/made_curves.h"

namespace rubato::govern {
namespace {

using testing::ElementsAre;

Ratio half_power_for_a_fifth_of_time(const predict::KnobPoint& at) {
  const double down = (250 - at.power_limit->value()) / 100;
  return {1 + 0.2 * down * down, 1 - 0.5 * down};
}

TEST(StaticSweep, MeasuresEveryNthSettingFromTheTopAndTakesTheBestInsideTheBound) {
  const auto space = limits(150, 250, 5);
  StaticSweep search({.most = 6}, space, {});
  const Walk out = walk(search, space, half_power_for_a_fifth_of_time);
  EXPECT_THAT(tried_watts(out), ElementsAre(230, 210, 190, 170, 150));
  EXPECT_EQ(out.end.at.power_limit, 210_W);  // 3.2 %; 190 W loses 7.2 %
}

TEST(StaticSweep, SeesTwoKnobsAsAGrid) {
  auto space = limits(150, 250, 50);
  space.axes.push_back({.knob = Knob::sm_clock, .values = {900, 1200, 1500}});
  space.found.sm_clock = space.highest.sm_clock = 1500_MHz;
  StaticSweep search({.most = 9}, space, {});
  const Walk out = walk(search, space, [](const predict::KnobPoint& at) {
    return Ratio{1, at.power_limit->value() / 250 * at.sm_clock->value() / 1500};
  });
  EXPECT_EQ(out.tried.size(), 8U);
  EXPECT_EQ(out.end.at, (predict::KnobPoint{.power_limit = 150_W, .sm_clock = 900_MHz}));
}

TEST(StaticSweep, WhereNothingSavesTheFoundSettingStays) {
  const auto space = limits(150, 250, 5);
  StaticSweep search({}, space, {});
  EXPECT_TRUE(walk(search, space, [](const auto&) { return Ratio{1, 1.1}; }).end.found);
}

TEST(Score, AHostsWattsMakeSecondsDearer) {
  const Cost baseline{.work = 1, .time = 1_s, .energy = 100_J};
  const Cost slower{.work = 1, .time = Seconds(1.1), .energy = 90_J};
  EXPECT_DOUBLE_EQ(Scale({}, baseline).of(slower).reward, 0.9);
  EXPECT_DOUBLE_EQ(Scale({.beside = 100_W}, baseline).of(slower).reward, 1.0);
  EXPECT_DOUBLE_EQ(Scale({.time_power = 2, .beside = -50_W}, baseline).of(slower).reward, 0.7 * 1.21);
}

TEST(Score, TheFeasibleOneIsBetterAndOfTwoBrokenBoundsTheLessBroken) {
  EXPECT_TRUE(
      better({.loss = 0, .reward = 1, .feasible = true}, {.loss = 0.2, .reward = 0.5, .feasible = false}));
  EXPECT_TRUE(
      better({.loss = 0.1, .reward = 2, .feasible = false}, {.loss = 0.2, .reward = 1, .feasible = false}));
  EXPECT_FALSE(
      better({.loss = 0, .reward = 1, .feasible = true}, {.loss = 0.04, .reward = 0.9, .feasible = true}));
}

}  // namespace
}  // namespace rubato::govern
