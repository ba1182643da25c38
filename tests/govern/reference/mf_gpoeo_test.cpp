#include "govern/reference/mf_gpoeo.h"

#include <gmock/gmock.h>

#include "govern/reference/made_curves.h"

namespace rubato::govern {
namespace {

using testing::ElementsAre;

plan::KnobSpace ini_clocks() {
  return clocks(210, 2055, 15);  // 124
}

// 0.15 % of time a gear below 110, and half a percent of energy.
Ratio bends_at_110(const predict::KnobPoint& at) {
  const double gear = (at.sm_clock->value() - 210) / 15;
  const double down = std::max(0.0, 110 - gear);
  return {1 + 0.0015 * down, 1 - 0.005 * down};
}

std::vector<ControlStep> steps_at(std::vector<std::pair<std::size_t, double>> gears_and_losses) {
  std::vector<ControlStep> out;
  for (const auto& [gear, loss] : gears_and_losses)
    out.push_back({gear, {loss, 1 - 0.001 * static_cast<double>(124 - gear), loss <= 0.05}});
  return out;
}

TEST(MfGpoeo, StartsAt95PercentOfTheGearsAndNeverAboveTheFoundOne) {
  EXPECT_EQ(MfGpoeo({}, Gears(ini_clocks(), 0), {}).start_gear(220_W), 117U);
  auto lower = ini_clocks();
  lower.found.sm_clock = 1500_MHz;
  EXPECT_EQ(MfGpoeo({}, Gears(lower, 0), {}).start_gear(220_W), 86U);
  const MfGpoeo on_limits({}, Gears(limits(100, 350, 1), 0), {});
  EXPECT_EQ(on_limits.start_gear(220_W), 139U);  // 130 gears above it, less 85 %
  EXPECT_EQ(on_limits.start_gear(349_W), 233U);  // 95 % of 350 W
}

TEST(MfGpoeo, MeasuresTheBaselineAgainAfterTwoControlSteps) {
  const auto space = ini_clocks();
  MfGpoeo search({}, Gears(space, 0), {});
  const Walk out = walk(search, space, bends_at_110);
  ASSERT_GE(out.tried.size(), 4U);
  EXPECT_FALSE(out.tried[0].found);
  EXPECT_FALSE(out.tried[1].found);
  EXPECT_TRUE(out.tried[2].found);
  EXPECT_FALSE(out.tried[3].found);
}

TEST(MfGpoeo, OnPowerLimitsAStepIsAShareOfTheWatts) {
  const auto space = limits(100, 350, 1);
  MfGpoeo search({}, Gears(space, 0), {});
  const Walk out = walk(search, space, [](const predict::KnobPoint& at) {
    return Ratio{1, at.power_limit->value() / 350};
  });
  // 239 W, less 2.8 x 0.7 x 0.047 of it.
  EXPECT_THAT(std::vector({tried_watts(out)[0], tried_watts(out)[1]}), ElementsAre(239, 217));
}

TEST(MfGpoeo, EndsAfterAtMostFiveControlStepsInsideTheBound) {
  const auto space = ini_clocks();
  MfGpoeo search({}, Gears(space, 0), {});
  const Walk out = walk(search, space, bends_at_110);
  // 117 -> 106 (9.2 %) -> 97: 0.7 % lost, 2.8 x 0.75 x 0.041 of 106 ... and on towards gear 79 (4.7 %).
  EXPECT_THAT(std::vector(out.tried.begin(), out.tried.begin() + 2),
              ElementsAre(testing::Field(&SearchStep::at, predict::KnobPoint{.sm_clock = 1965_MHz}),
                          testing::Field(&SearchStep::at, predict::KnobPoint{.sm_clock = 1800_MHz})));
  EXPECT_LE(out.tried.size(), 6U);  // one of them the baseline
  EXPECT_LE(bends_at_110(out.end.at).time, 1.05);
  EXPECT_GE(bends_at_110(out.end.at).time, 1.03);
}

TEST(MfGpoeoEnd, TheFifthStepIsTheLast) {
  const auto steps = steps_at({{117, 0}, {106, 0.01}, {80, 0.09}, {96, 0.02}, {86, 0.04}});
  // Of the last three, 86 saves most inside the bound.
  EXPECT_EQ(settled_gear(steps, 84, 0, 124, 0.047), 86U);
  EXPECT_EQ(settled_gear(std::span(steps).first(4), 84, 0, 124, 0.047), std::nullopt);
}

TEST(MfGpoeoEnd, WhereNoneOfTheLastHoldsTheBoundTheHighestGearIsTaken) {
  const auto steps = steps_at({{70, 0.2}, {80, 0.1}, {85, 0.09}, {88, 0.08}, {90, 0.07}});
  EXPECT_EQ(settled_gear(steps, 95, 0, 124, 0.047), 90U);
}

TEST(MfGpoeoEnd, GearsWithinThreeAndAFeasibleLastOneAgree) {
  EXPECT_EQ(settled_gear(steps_at({{88, 0.049}, {90, 0.046}, {89, 0.047}}), 91, 0, 124, 0.047), 88U);
  EXPECT_EQ(settled_gear(steps_at({{88, 0.1}, {90, 0.09}, {89, 0.08}}), 91, 0, 124, 0.047), std::nullopt);
}

TEST(MfGpoeoEnd, ThreeLowGearsInsideTheBoundAreEnough) {
  EXPECT_TRUE(settled_gear(steps_at({{72, 0.001}, {60, 0.002}, {40, 0.003}}), 20, 0, 124, 0.047));
}

TEST(MfGpoeo, APowerThatMovesInThreeOfFiveWindowsBeginsAgain) {
  MfGpoeo search({}, Gears(ini_clocks(), 0), {});
  const auto window = [&](double watts) {
    return search.again({.work = 10, .time = 1_s, .energy = Joules(watts)});
  };
  for (int i = 0; i < 6; ++i) EXPECT_FALSE(window(200));
  EXPECT_EQ(search.watch().settle, 4_s * 4);
  EXPECT_FALSE(window(120));
  EXPECT_FALSE(window(120));
  EXPECT_TRUE(window(120));
}

}  // namespace
}  // namespace rubato::govern
