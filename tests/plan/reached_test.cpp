#include "plan/reached.h"

#include <gtest/gtest.h>

#include <vector>

#include "made_belief.h"

namespace rubato::plan {
namespace {

const Goal kEnergy{.objective = Objective::energy, .host_watts = 0_W};
constexpr std::size_t kDeep = 0;
constexpr std::size_t kMiddle = 1;
constexpr std::size_t kShallow = 2;
const std::vector<std::size_t> kEnds = {kDeep, kShallow};

// Of the middle one nobody knows whether it lies above the line through the others, or below.
CurveBelief unsure_of_the_middle() {
  CurveBelief belief = belief_of({{{1.10, 0.80}, {1.06, 0.80}, {1.02, 0.95}, {1, 1}},
                                  {{1.10, 0.80}, {1.06, 0.98}, {1.02, 0.95}, {1, 1}}});
  return belief;
}

TEST(Reached, TwoThatAreKnownShareWhatIsAllowed) {
  const Reached two = reached(unsure_of_the_middle(), kEnergy, 200_W, 0.06, kEnds, true);
  EXPECT_NEAR(two.faster, 0.02, 1e-3);
  EXPECT_NEAR(two.slower, 0.10, 1e-3);
  EXPECT_NEAR(two.saving, 0.05, 1e-3);
  EXPECT_NEAR(two.at(0.06), 0.125, 1e-3);
}

TEST(Reached, BeyondTheSlowestOneItAloneIsBest) {
  const Reached one = reached(unsure_of_the_middle(), kEnergy, 200_W, 0.2, kEnds, true);
  EXPECT_NEAR(one.faster, 0.10, 1e-3);
  EXPECT_EQ(one.price, 0);
  EXPECT_NEAR(one.at(0.2), 0.20, 1e-3);
  EXPECT_EQ(one.part(0.15), 1);
}

TEST(Reached, WhereNothingIsKnownTheFoundSettingIs) {
  const Reached none = reached(unsure_of_the_middle(), kEnergy, 200_W, 0.05, {}, true);
  EXPECT_EQ(none.saving, 0);
  EXPECT_EQ(none.faster, 0);
  EXPECT_EQ(none.part(0.05), 1);
}

TEST(Reached, TimeIsNotSharedForTheEnergyDelayProduct) {
  Goal goal = kEnergy;
  goal.objective = Objective::edp;
  const Reached one = reached(unsure_of_the_middle(), goal, 200_W, 0.06, kEnds, true);
  EXPECT_NEAR(one.saving, 1 - 0.95 * 1.02, 1e-3);
  EXPECT_EQ(one.price, 0);
  EXPECT_EQ(one.part(0.03), 1);
  EXPECT_EQ(one.part(0.07), 0);
}

TEST(Reached, TimeIsNotSharedWhereItMayNotBe) {
  const Reached one = reached(unsure_of_the_middle(), kEnergy, 200_W, 0.06, kEnds, false);
  EXPECT_NEAR(one.saving, 1 - 0.95, 1e-3);
  EXPECT_EQ(one.part(0.03), 1);
  EXPECT_EQ(one.part(0.07), 0);
}

// Half of the curves gain 0.2 less 0.125 at it, the others nothing; each may be a little wrong by itself,
// which gains.
TEST(Reached, AGainIsExpectedOfWhatMayLieAboveTheLine) {
  const CurveBelief belief = unsure_of_the_middle();
  const Reached two = reached(belief, kEnergy, 200_W, 0.06, kEnds, true);
  const auto gains = belief.expected_gains(two, 0, 0);
  EXPECT_GE(gains[kMiddle], 0.5 * (0.20 - 0.125));
  EXPECT_LE(gains[kMiddle], 0.65 * (0.20 - 0.125));
  EXPECT_LT(gains[kShallow], 0.1 * gains[kMiddle]);
}

// Slower than allowed it may only take the time that a faster one leaves.
TEST(Reached, WhatIsSlowerThanAllowedGainsOnlyForItsPart) {
  const CurveBelief belief = unsure_of_the_middle();
  const std::vector<std::size_t> shallow = {kShallow};
  const Reached within = reached(belief, kEnergy, 200_W, 0.06, shallow, true);
  const Reached over = reached(belief, kEnergy, 200_W, 0.04, shallow, true);
  EXPECT_NEAR(over.part(0.06), 0.5, 0.02);
  EXPECT_NEAR(belief.expected_gains(over, 0, 0)[kMiddle] / belief.expected_gains(within, 0, 0)[kMiddle], 0.5,
              0.05);
}

}  // namespace
}  // namespace rubato::plan
