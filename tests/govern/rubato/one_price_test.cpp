#include "govern/rubato/one_price.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace rubato::govern {
namespace {

/// One setting besides the found one: 5 % slower.
plan::CurveBelief belief_that_saves(double saving) {
  predict::Draws draws{Eigen::MatrixXd::Zero(2, 1), Eigen::MatrixXd::Zero(2, 1)};
  draws.log_time(0, 0) = std::log(1.05);
  draws.log_power(0, 0) = std::log((1 - saving) / 1.05);
  return {{{.power_limit = 200_W}, {.power_limit = 300_W}}, 1, std::move(draws)};
}

const Goal kGoal{.objective = Objective::energy, .max_slowdown = 0.05, .host_watts = {}};

struct OnePrice : ::testing::Test {
  plan::CurveBelief little = belief_that_saves(0.05);
  plan::CurveBelief much = belief_that_saves(0.20);
  std::array<Claim, 2> claims{
      {{&little, {.caution = 0}, 200_W, 1000, 100_s}, {&much, {.caution = 0}, 200_W, 1000, 100_s}}};
};

TEST_F(OnePrice, SecondsGoWhereTheySaveMost) {
  EXPECT_NEAR(at_one_price(claims, 0, 0.02, kGoal).lost, 0, 1e-9);
  EXPECT_NEAR(at_one_price(claims, 1, 0.02, kGoal).lost, 0.04, 1e-6);
}

TEST_F(OnePrice, WhatIsLeftGoesToTheOthers) {
  EXPECT_NEAR(at_one_price(claims, 1, 0.04, kGoal).lost, 0.05, 1e-6);
  EXPECT_NEAR(at_one_price(claims, 0, 0.04, kGoal).lost, 0.03, 1e-6);
  EXPECT_NEAR(at_one_price(claims, 0, 0.20, kGoal).lost, 0.05, 1e-6) << "no more than all ask for";
}

TEST_F(OnePrice, NothingLeftIsNothingGiven) {
  EXPECT_EQ(at_one_price(claims, 1, -0.01, kGoal).lost, 0);
}

TEST_F(OnePrice, TheGainIsOverTheSameSlowdownForEach) {
  const Given given = at_one_price(claims, 0, 0.02, kGoal);
  EXPECT_NEAR(given.gain, (0.8 * 0.20 - 0.4 * 0.05 - 0.4 * 0.20) / 2, 1e-6);
  // 2 s are kept in a turn of 100 s, worth 800 J each; a second of work gains 6 J.
  EXPECT_NEAR(given.made_good.value(), 2 * 800 / 6.0, 0.1);
}

TEST_F(OnePrice, AmongThoseAlikeNothingIsGained) {
  claims[0].belief = &much;
  const Given given = at_one_price(claims, 0, 0.02, kGoal);
  EXPECT_NEAR(given.gain, 0, 1e-9);
}

}  // namespace
}  // namespace rubato::govern
