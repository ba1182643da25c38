#include "plan/spending.h"

#include <gtest/gtest.h>

#include <cmath>

#include "made_belief.h"

namespace rubato::plan {
namespace {

constexpr SpendingRules kMeans{.caution = 0};  // what is expected, and no margin
const Goal kEnergy{.objective = Objective::energy, .max_slowdown = 0.05, .host_watts = {}};

Account fresh(double bound = 0.05) {
  return {.work = 100, .lost = 100 * bound, .ahead = 100, .bound = bound};  // what was allowed was spent
}

TEST(Spending, WhatIsLeftOfTheBudgetIsSpentAhead) {
  EXPECT_NEAR(fresh().allowed(), 0.05, 1e-12);
  EXPECT_NEAR((Account{.work = 100, .lost = 2, .ahead = 50, .bound = 0.05}).allowed(), 0.11, 1e-12);
  EXPECT_NEAR((Account{.work = 100, .lost = 20, .ahead = 50, .bound = 0.05}).allowed(), -0.25, 1e-12);
}

TEST(Spending, TheBestSettingThatCanBePaidIsTaken) {
  const CurveBelief belief = belief_of({{{1.20, 0.70}, {1.045, 0.85}, {1.02, 0.90}, {1, 1}}});
  const Spending best = spend(belief, kEnergy, 200_W, fresh(0.03), kMeans);
  EXPECT_EQ(best.setting, 2);
  EXPECT_NEAR(best.objective, 0.90, 1e-6);
  EXPECT_EQ(spend(belief, kEnergy, 200_W, fresh(), kMeans).setting, 1);
}

TEST(Spending, WhatIsOverspentIsEarnedBackAtTheFoundSetting) {
  const CurveBelief belief = belief_of({{{1.02, 0.80}, {1, 1}}});
  const Account over{.work = 100, .lost = 20, .ahead = 100, .bound = 0.05};
  EXPECT_EQ(spend(belief, kEnergy, 200_W, over, kMeans).setting, 1);
}

TEST(Spending, AcrossAHoleTwoSettingsShareTheTime) {
  // 10 % more time for 40 % less energy, and nothing between it and the found setting: half the time at it
  // loses 5 % and saves 20 %.
  const CurveBelief belief = belief_of({{{1.10, 0.60}, {1, 1}}});
  const Spending best = spend(belief, kEnergy, 200_W, fresh(), kMeans);
  EXPECT_EQ(best.setting, 1);
  ASSERT_TRUE(best.share);
  EXPECT_EQ(best.share->slower, 0);
  EXPECT_EQ(best.share->faster, 1);
  EXPECT_NEAR(best.share->part, 0.5, 1e-6);
  EXPECT_NEAR(best.share->gain, 0.2, 1e-6);
}

TEST(Spending, APairWithAMemberFarBeyondTheBoundIsNone) {
  const CurveBelief belief = belief_of({{{1.30, 0.20}, {1, 1}}});
  EXPECT_FALSE(spend(belief, kEnergy, 200_W, fresh(), kMeans).share);
}

TEST(Spending, EnergyTimesTimeIsNotShared) {
  const CurveBelief belief = belief_of({{{1.10, 0.60}, {1, 1}}});
  Goal goal = kEnergy;
  goal.objective = Objective::edp;
  EXPECT_FALSE(spend(belief, goal, 200_W, fresh(), kMeans).share);
  EXPECT_NEAR(objective_ratio(belief, 0, goal, 200_W), 0.66, 1e-6);
  goal.objective = Objective::ed2p;
  EXPECT_NEAR(objective_ratio(belief, 0, goal, 200_W), 0.726, 1e-6);
}

TEST(Spending, AHostThatWaitsMakesSlowSettingsDear) {
  const CurveBelief belief = belief_of({{{1.04, 0.96}, {1, 1}}});
  Goal goal = kEnergy;
  EXPECT_EQ(spend(belief, goal, 200_W, fresh(), kMeans).setting, 0);
  goal.host_watts = 200_W;  // 4 % less there, 4 % more here
  EXPECT_NEAR(objective_ratio(belief, 0, goal, 200_W), 1, 1e-6);
  goal.host_watts = 300_W;
  EXPECT_EQ(spend(belief, goal, 200_W, fresh(), kMeans).setting, 1);
}

TEST(Spending, APricedSecondCountsLikeAHostAndAnIdleBoardTheOtherWay) {
  const CurveBelief belief = belief_of({{{1.04, 0.96}, {1, 1}}});
  Goal goal = kEnergy;
  goal.objective = Objective::cost;
  goal.second = 200_W;
  EXPECT_NEAR(objective_ratio(belief, 0, goal, 200_W), 1, 1e-6);
  goal.idle = 200_W;
  EXPECT_NEAR(objective_ratio(belief, 0, goal, 200_W), 0.96, 1e-6);
  goal.second = {};
  goal.idle = 100_W;  // of 200 J a second 100 are the job's: 192 - 104 are left of them
  EXPECT_NEAR(objective_ratio(belief, 0, goal, 200_W), 0.88, 1e-6);
  goal.idle = 300_W;  // more than the board draws: as much as can be believed
  EXPECT_NEAR(share_of_time(goal, 200_W), -4, 1e-9);
  EXPECT_EQ(share_of_time(goal, 0_W), 0);
}

TEST(Spending, WhereASecondIsDearTheFoundSettingIsTheAnswer) {
  const CurveBelief belief = belief_of({{{1.01, 0.80}, {1, 1}}});
  Goal goal = kEnergy;
  goal.objective = Objective::cost;
  goal.second = 8000_W;
  EXPECT_EQ(spend(belief, goal, 200_W, fresh(), kMeans).setting, 1);
}

TEST(Spending, WhatIsNotKnownCountsAsLostByCaution) {
  const CurveBelief belief = belief_of({{{1.01, 0.80}, {1, 1}}, {{1.03, 0.80}, {1, 1}}});
  const double unknown = belief.log_time_deviation(0);
  EXPECT_GT(unknown, 0.009);
  EXPECT_NEAR(most_lost(belief, 0, kMeans), 0.02, 0.0002);
  EXPECT_NEAR(std::log1p(most_lost(belief, 0, {.caution = 2})), belief.log_time(0) + 2 * unknown, 1e-9);
  EXPECT_NEAR(std::log1p(most_lost(belief, 0, {.caution = 2, .own_part = 0.5})), belief.log_time(0) + unknown,
              1e-9);
  EXPECT_EQ(most_lost(belief, 1, {.caution = 2}), 0);
}

TEST(Goal, OfSeveralGpusEachHasItsWattsBesideIt) {
  const Goal one{.host_watts = 300_W, .idle = 60_W};
  const double share = share_of_time(one, 300_W);
  EXPECT_NEAR(share_of_time(beside_all(one, 8), 8 * 300_W), share, 1e-12);
  EXPECT_LT(share_of_time(one, 8 * 300_W), 0.2 * share + 0.05) << "as if the machine were one GPU's";
}

}  // namespace
}  // namespace rubato::plan
