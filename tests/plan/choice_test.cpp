#include "plan/choice.h"

#include <gmock/gmock.h>

#include "base/random.h"
#include "beliefs.h"
#include "plan/belief.h"

namespace rubato::plan {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(Choose, WithoutABoundTheObjectiveAloneDecides) {
  const auto believed = believe({{100, 1.50, 0.70}, {150, 1.20, 0.75}, {200, 1.02, 0.90}});
  const auto at = [&](Objective objective) {
    return choose(believed, goal(objective), 250_W, false).setting;
  };
  EXPECT_EQ(at(Objective::energy), 0U);
  EXPECT_EQ(at(Objective::edp), 1U);
  EXPECT_EQ(at(Objective::ed2p), 2U);
}

TEST(Choose, TheBoundExcludesWhatSavesMoreButIsSlower) {
  const auto believed = believe({{100, 1.50, 0.70}, {150, 1.20, 0.75}, {200, 1.02, 0.90}});
  const Choice choice = choose(believed, goal(Objective::energy), 250_W, true);
  EXPECT_EQ(choice.setting, 2U);
  EXPECT_EQ(choice.holds, 1);
  EXPECT_NEAR(choice.energy.median, 0.90, 1e-12);
  EXPECT_NEAR(choice.time.median, 1.02, 1e-12);
  EXPECT_THAT(choice.why, AllOf(HasSubstr("200 W"), HasSubstr("10 %")));
}

TEST(Choose, ALikelySmallSavingBeatsAnUnlikelyLargeOne) {
  // 150 W: 20 % saved, but the bound holds with even odds. 200 W: 15 %, surely.
  const auto believed = believe({{150, 1.05, 0.80, 0.03, 0}, {200, 1.01, 0.85, 0.005, 0}});
  EXPECT_EQ(choose(believed, goal(Objective::energy), 250_W, true).setting, 1U);
}

TEST(Choose, ConfidenceAskedForIsKept) {
  const auto believed = believe({{150, 1.04, 0.70, 0.02, 0}, {225, 1.00, 0.97, 0.005, 0}});
  EXPECT_EQ(choose(believed, goal(Objective::energy), 250_W, true).setting, 0U);
  const Choice careful = choose(believed, goal(Objective::energy), 250_W, true, {.confidence = 0.95});
  EXPECT_EQ(careful.setting, 1U);
  EXPECT_GE(careful.holds, 0.95);
}

TEST(Choose, NoSavingWorthTheRiskIsAnAnswerWithItsReason) {
  const auto believed = believe({{150, 1.30, 0.80}, {200, 1.01, 1.02}, {250, 1, 1}});
  const Choice choice = choose(believed, goal(Objective::energy), 250_W, true);
  EXPECT_FALSE(choice.setting);
  EXPECT_EQ(choice.energy.median, 1);
  EXPECT_THAT(choice.why, testing::Not(testing::IsEmpty()));
  const auto small = believe({{200, 1.00, 0.995, 0.001, 0.01}});
  const Choice least = choose(small, goal(Objective::energy), 250_W, true, {.least_saving = 0.01});
  EXPECT_FALSE(least.setting);
  EXPECT_THAT(least.why,
              AllOf(HasSubstr("no saving worth the risk"), HasSubstr("200 W"), HasSubstr("0.5 %")));
}

TEST(Choose, HostWattsMakeSlownessCost) {
  const auto believed = believe({{100, 1.50, 0.70}, {200, 1.02, 0.90}});
  Goal asked = goal(Objective::energy);
  EXPECT_EQ(choose(believed, asked, 250_W, false).setting, 0U);
  // Of 250 W + 250 W: 0.5 * 0.70 + 0.5 * 1.50 = 1.10; 0.5 * 0.90 + 0.5 * 1.02 = 0.96.
  asked.host_watts = 250_W;
  const Choice choice = choose(believed, asked, 250_W, false);
  EXPECT_EQ(choice.setting, 1U);
  EXPECT_NEAR(choice.objective.median, 0.96, 1e-12);
}

TEST(Choose, ASettingWhoseExpectedObjectiveIsAboveTheDefaultsIsNeverChosen) {
  Random random(3);
  for (int round = 0; round < 300; ++round) {
    std::vector<At> settings;
    for (int k = 0; k < 6; ++k)
      settings.push_back({100.0 + 25 * k, random.uniform(0.9, 1.4), random.uniform(0.8, 1.3),
                          random.uniform(0, 0.2), random.uniform(0, 0.3)});
    const auto believed = believe(settings);
    const Goal asked = goal(round % 2 == 0 ? Objective::energy : Objective::edp);
    for (const bool bounded : {false, true}) {
      const Choice choice = choose(believed, asked, 200_W, bounded);
      if (!choice.setting) continue;
      EXPECT_LT(ObjectiveRatio(asked, 200_W).mean(belief_at(believed, *choice.setting)), 1);
    }
  }
}

TEST(Choose, NothingToChooseFromIsSaid) {
  const Choice choice = choose(believe({}), goal(Objective::energy), 200_W, true);
  EXPECT_FALSE(choice.setting);
  EXPECT_THAT(choice.why, HasSubstr("no other setting"));
}

}  // namespace
}  // namespace rubato::plan
