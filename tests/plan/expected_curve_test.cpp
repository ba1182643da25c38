#include "plan/expected_curve.h"

#include <gmock/gmock.h>

#include "made_belief.h"

namespace rubato::plan {
namespace {

using testing::Each;
using testing::Field;
using testing::SizeIs;

/// `n` limits; the slowest takes half as much time again and a third less energy.
MadeCurve falling(std::size_t n, double times = 1) {
  MadeCurve out;
  for (std::size_t i = 0; i < n; ++i) {
    const double down = static_cast<double>(n - 1 - i) / static_cast<double>(n - 1);
    out.push_back({1 + 0.5 * times * down, 1 - 0.33 * down});
  }
  return out;
}

TEST(ExpectedCurve, GoesAlongTheOneKnobFromItsHighestValueDown) {
  const CurveBelief belief = belief_of({falling(5), falling(5, 1.2)});
  const Expectation e = expected_curve(belief, 0.05, 4, std::vector<bool>(5));
  ASSERT_THAT(e.settings, SizeIs(5));
  EXPECT_TRUE(e.settings[0].setting.empty()) << "the found setting is what is set when nothing is";
  EXPECT_EQ(e.settings[1].setting.power_limit, 280_W);
  EXPECT_EQ(e.settings[4].setting.power_limit, 220_W);
  EXPECT_DOUBLE_EQ(e.settings[0].time.low, 1);
  EXPECT_DOUBLE_EQ(e.settings[0].holds, 1);
  for (std::size_t i = 1; i < 5; ++i) {
    const ExpectedSetting& s = e.settings[i];
    EXPECT_DOUBLE_EQ(s.time.value, belief.time(4 - i));
    EXPECT_DOUBLE_EQ(s.energy.value, belief.energy(4 - i));
    EXPECT_LT(s.time.low, s.time.value);
    EXPECT_GT(s.energy.high, s.energy.value);
    EXPECT_TRUE(s.on_curve);
  }
  EXPECT_LT(e.settings[4].holds, 0.01);
}

TEST(ExpectedCurve, IsThinnedButKeepsTheEndsTheChosenAndTheMeasured) {
  const CurveBelief belief = belief_of({falling(200)});
  std::vector<bool> measured(200);
  measured[57] = measured[58] = true;
  const Expectation e = expected_curve(belief, 0.05, 123, measured);
  EXPECT_GE(e.settings.size(), 40U);
  EXPECT_LE(e.settings.size(), 44U);
  EXPECT_THAT(e.settings, Each(Field(&ExpectedSetting::on_curve, true)));
  const auto has = [&](std::size_t i) {
    return std::ranges::count(e.settings, belief.at(i).power_limit,
                              [](const ExpectedSetting& s) { return s.setting.power_limit; }) == 1;
  };
  for (const std::size_t i : {0U, 57U, 58U, 123U}) EXPECT_TRUE(has(i)) << i;
  EXPECT_EQ(std::ranges::count_if(e.settings, &ExpectedSetting::measured), 2);
}

/// Two limits by two clocks; the last is found. The third is slower and dearer than the fourth.
CurveBelief of_two_knobs() {
  std::vector<predict::KnobPoint> at;
  for (const Watts limit : {200_W, 300_W})
    for (const Megahertz clock : {900_MHz, 1400_MHz}) at.push_back({.power_limit = limit, .sm_clock = clock});
  predict::Draws draws;
  draws.log_time = Eigen::Vector4d(std::log(1.4), std::log(1.1), std::log(1.3), 0);
  draws.log_power = Eigen::Vector4d(std::log(0.6 / 1.4), std::log(0.8 / 1.1), std::log(1.1 / 1.3), 0);
  return CurveBelief(std::move(at), 3, std::move(draws));
}

TEST(ExpectedCurve, OfSeveralKnobsIsWhatNothingIsFasterAndCheaperThan) {
  const Expectation e = expected_curve(of_two_knobs(), 0.05, 3, std::vector<bool>(4));
  ASSERT_THAT(e.settings, SizeIs(3));
  EXPECT_NEAR(e.settings[1].time.value, 1.1, 1e-6);
  EXPECT_NEAR(e.settings[2].energy.value, 0.6, 1e-6);
}

TEST(ExpectedCurve, WhatWasMeasuredBesideItIsToldToo) {
  std::vector<bool> measured(4);
  measured[2] = true;
  const Expectation e = expected_curve(of_two_knobs(), 0.05, 3, measured);
  ASSERT_THAT(e.settings, SizeIs(4));
  EXPECT_FALSE(e.settings[3].on_curve);
  EXPECT_TRUE(e.settings[3].measured);
  EXPECT_EQ(e.settings[3].setting.sm_clock->max, 900_MHz);
}

}  // namespace
}  // namespace rubato::plan
