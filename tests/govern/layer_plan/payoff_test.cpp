#include "govern/layer_plan/payoff.h"

#include <gmock/gmock.h>

namespace rubato::govern {
namespace {

using testing::HasSubstr;

Cost cost(double time, double energy) {
  return {.work = 10, .time = Seconds(time), .energy = Joules(energy)};
}

/// Found: 1 s, 200 J. Single: 1.04 s, 180 J, so a second is worth 500 J.
Payoff after(double plan_time, double plan_energy, int pairs, double noise = 0.5) {
  Payoff payoff({.max_slowdown = 0.05});
  payoff.found(cost(1, 200));
  for (int i = 0; i < pairs; ++i) {
    const double wobble = i % 2 == 0 ? noise : -noise;
    payoff.pair(cost(1.04, 180), cost(plan_time, plan_energy + wobble));
  }
  return payoff;
}

TEST(Payoff, IsNotDecidedByFewPairs) {
  EXPECT_FALSE(after(1.04, 150, 5).verdict());
  EXPECT_TRUE(after(1.04, 150, 6).verdict());
}

TEST(Payoff, LessEnergyInTheSameTimePays) {
  const auto verdict = after(1.04, 171, 6).verdict();
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->keep, Keep::plan);
  EXPECT_THAT(verdict->why, HasSubstr("saves 5 %"));
  EXPECT_THAT(verdict->why, HasSubstr("a second counts 500 J"));
}

TEST(Payoff, ASecondThatBoughtLessThanTheSingleSettingsSecondsDoesNotPay) {
  // 9 J less, and 8 ms more: worth 4 J at this price; then 19 ms: 9.5 J.
  EXPECT_EQ(after(1.048, 171, 6).verdict()->keep, Keep::plan);
  Payoff payoff({.max_slowdown = 0.1});
  payoff.found(cost(1, 200));
  for (int i = 0; i < 6; ++i) payoff.pair(cost(1.04, 180), cost(1.06, 171 + 0.1 * (i % 2)));
  EXPECT_EQ(payoff.verdict()->keep, Keep::single);
}

TEST(Payoff, MoreEnergyFallsBackToTheSingleSetting) {
  const auto verdict = after(1.04, 184, 6).verdict();
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->keep, Keep::single);
  EXPECT_THAT(verdict->why, HasSubstr("does not pay"));
  EXPECT_THAT(verdict->why, HasSubstr("saves 10 %"));
}

TEST(Payoff, WhatNoiseHidesIsLookedAtLongerAndThenNotKept) {
  EXPECT_FALSE(after(1.04, 179.9, 10, 5).verdict());
  const auto verdict = after(1.04, 179.9, 20, 5).verdict();
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->keep, Keep::single);
  EXPECT_THAT(verdict->why, HasSubstr("not seen to pay"));
}

TEST(Payoff, ABrokenBoundEndsItEarlyWhateverItSaves) {
  const auto verdict = after(1.08, 120, 3).verdict();
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->keep, Keep::single);
  EXPECT_THAT(verdict->why, HasSubstr("8 % longer"));
}

TEST(Payoff, ASingleSettingThatDoesNotPayEitherGivesWayToTheFoundOne) {
  Payoff dear({.max_slowdown = 0.05});
  dear.found(cost(1, 200));
  for (int i = 0; i < 6; ++i) dear.pair(cost(1.04, 201), cost(1.04, 205 + i % 2));
  EXPECT_EQ(dear.verdict()->keep, Keep::found);
  Payoff slow({.max_slowdown = 0.05});
  slow.found(cost(1, 200));
  for (int i = 0; i < 6; ++i) slow.pair(cost(1.06, 170), cost(1.09, 165 + i % 2));
  const auto verdict = slow.verdict();
  EXPECT_EQ(verdict->keep, Keep::found);
  EXPECT_THAT(verdict->why, HasSubstr("6 % slower"));
}

TEST(Payoff, WithoutABaselineNothingIsJudged) {
  Payoff payoff({});
  for (int i = 0; i < 30; ++i) payoff.pair(cost(1, 180), cost(1, 100));
  EXPECT_FALSE(payoff.verdict());
}

TEST(Payoff, TheHostsWattsAreThePriceWhereTheyAreMore) {
  Payoff payoff({.max_slowdown = 0.05, .host = 2000_W});
  payoff.found(cost(1, 200));
  for (int i = 0; i < 6; ++i) payoff.pair(cost(1.0, 180), cost(1.006, 171 + 0.1 * (i % 2)));
  EXPECT_EQ(payoff.verdict()->keep, Keep::single) << "9 J for 6 ms, which the host makes 12 J";
}

}  // namespace
}  // namespace rubato::govern
