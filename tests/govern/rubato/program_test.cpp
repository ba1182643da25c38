#include "govern/rubato/program.h"

#include <gtest/gtest.h>

#include <cmath>

#include "made_stretch.h"

namespace rubato::govern {
namespace {

/// Setting 0 takes 10 % more time and 20 % less energy; 1 is found.
Program made() {
  predict::Draws draws{Eigen::MatrixXd::Zero(2, 1), Eigen::MatrixXd::Zero(2, 1)};
  draws.log_time(0, 0) = std::log(1.1);
  draws.log_power(0, 0) = std::log(0.8 / 1.1);
  return {plan::CurveBelief({{.power_limit = 200_W}, {.power_limit = 300_W}}, 1, std::move(draws)),
          stretch(0, 5)};
}

TEST(Program, ItsUnitAndItsPowerAreThoseOfTheBaseline) {
  EXPECT_NEAR(made().unit().value(), 0.1, 1e-9);
  EXPECT_NEAR(made().board().value(), 200, 1e-6);
}

TEST(Program, TimeAtTheFoundSettingLosesNothing) {
  Program p = made();
  p.ran(1, 50_s);
  EXPECT_NEAR(p.slowdown(Errors::of_the_sum).seconds, 50, 1e-9);
  EXPECT_NEAR(p.slowdown(Errors::of_the_sum).lost, 0, 1e-9);
  EXPECT_NEAR(p.slowdown(Errors::of_the_sum).lost_error, 0, 1e-9);
}

TEST(Program, ElevenSecondsAtATenthSlowerLoseOne) {
  Program p = made();
  p.ran(1, 50_s);
  p.ran(0, 6_s);
  p.ran(0, 5_s);
  EXPECT_NEAR(p.slowdown(Errors::of_the_sum).seconds, 60, 1e-6);
  EXPECT_NEAR(p.slowdown(Errors::of_the_sum).lost, 1, 1e-6);
  EXPECT_NEAR(p.slowdown(Errors::of_the_sum).lost_error, 10 * p.belief().log_time_deviation(0), 1e-9);
}

TEST(Program, WhatItLearnsLaterIsCountedForWhatItRanBefore) {
  Program p = made();
  p.ran(0, 11_s);
  p.add(1, stretch(0, 5));
  p.add(0, stretch(10, 15, 1.085, 0.75));
  p.add(1, stretch(20, 25));
  p.fit();
  EXPECT_LT(p.slowdown(Errors::of_the_sum).lost, 0.97);
  EXPECT_NEAR(p.slowdown(Errors::of_the_sum).lost, 11 - 11 / p.belief().time(0), 1e-9);
}

TEST(Program, WhatIsSettledIsNotCountedAnew) {
  Program p = made();
  p.ran(0, 11_s);
  const auto before = p.slowdown(Errors::of_the_sum);
  p.settle();
  p.add(1, stretch(0, 5));
  p.add(0, stretch(10, 15, 1.02, 0.75));
  p.add(1, stretch(20, 25));
  p.fit();
  EXPECT_NEAR(p.slowdown(Errors::of_the_sum).lost, before.lost, 1e-9);
  EXPECT_NEAR(p.slowdown(Errors::of_the_sum).seconds, before.seconds, 1e-9);
  EXPECT_NEAR(p.slowdown(Errors::of_the_sum).lost_error, before.lost_error, 1e-9);
  p.ran(0, 11_s);
  EXPECT_NEAR(p.slowdown(Errors::of_the_sum).lost, before.lost + 11 - 11 / p.belief().time(0), 1e-9)
      << "what comes is";
  EXPECT_NEAR(p.variant(1).slowdown(Errors::of_the_sum).seconds, 0, 1e-9) << "a variant has lost nothing yet";
}

TEST(Program, ErrorsOfItsSettingsAddUpAsOneOrAsFarAsTheyAreOne) {
  predict::Draws draws{Eigen::MatrixXd::Zero(3, 1), Eigen::MatrixXd::Zero(3, 1)};
  draws.log_time.col(0) << std::log(1.1), std::log(1.05), 0;
  Program p{plan::CurveBelief({{.power_limit = 180_W}, {.power_limit = 240_W}, {.power_limit = 300_W}}, 2,
                              std::move(draws)),
            stretch(0, 50)};
  p.add(2, stretch(0, 50));
  p.add(0, stretch(60, 65, 1.1, 0.9));
  p.add(1, stretch(70, 75, 1.05, 0.95));
  p.fit();
  p.ran(0, 11_s);
  p.ran(1, 10.5_s);
  const double as_one = p.slowdown(Errors::as_one).lost_error;
  const auto error = [&](std::size_t i, double seconds) {
    return seconds / p.belief().time(i) * p.belief().log_time_deviation(i);
  };
  EXPECT_NEAR(as_one, error(0, 11) + error(1, 10.5), 1e-9);
  EXPECT_LT(p.slowdown(Errors::of_the_sum).lost_error, 0.95 * as_one);
  EXPECT_GT(p.slowdown(Errors::of_the_sum).lost_error, 0.7 * as_one);
}

TEST(Program, AfterItForgotWhatCameSinceTheFoundSettingTheNextDeparturesAreFromThere) {
  Program p = made();
  p.add(1, stretch(0, 5));
  p.add(0, stretch(10, 15, 1.3, 0.6));
  p.forget_since_found();
  EXPECT_FALSE(p.history().measured(0));
  p.fit();
  EXPECT_NEAR(p.departure(0, stretch(20, 25, 1.1, 0.8 / 1.1)).size(), 0, 1e-3);
}

TEST(Program, WhatWasAnotherProgramIsTakenBack) {
  Program p = made();
  p.ran(0, 11_s);
  p.ran_not(0, 5_s);
  EXPECT_NEAR(p.ran().value(), 6, 1e-9);
  p.ran_not(0, 50_s);
  EXPECT_NEAR(p.ran().value(), 0, 1e-9) << "never more than there was";
}

TEST(Program, AVariantKnowsTheCurveAndHasRunNowhereAndForgetsWhatIsNotItsOwn) {
  Program p = made();
  p.ran(0, 11_s);
  p.add(1, stretch(0, 5));
  p.add(0, stretch(10, 15, 1.06, 0.75));
  p.add(1, stretch(20, 25));
  p.fit();
  Program variant = p.variant(1);
  EXPECT_TRUE(variant.inherited());
  EXPECT_EQ(variant.belief().log_time(0), p.belief().log_time(0));
  EXPECT_EQ(variant.ran().value(), 0);
  EXPECT_EQ(variant.slowdown(Errors::of_the_sum).lost, 0);
  variant.add(1, stretch(30, 35, 1.05));
  variant.forget_inherited();
  EXPECT_FALSE(variant.inherited());
  EXPECT_FALSE(variant.history().measured(0));
  EXPECT_TRUE(variant.history().measured(1));
  EXPECT_TRUE(p.history().measured(0));
}

TEST(Program, DepartureIsFromWhatTheStretchBeforeMakesOneExpect) {
  Program p = made();
  p.add(1, stretch(0, 5));
  const auto none = p.departure(0, stretch(10, 15, 1.1, 0.8 / 1.1));
  EXPECT_NEAR(none.time, 0, 1e-6);
  EXPECT_NEAR(none.power, 0, 1e-6);
  const auto slower = p.departure(0, stretch(10, 15, 1.1 * 1.05, 0.8 / 1.1));
  EXPECT_NEAR(slower.time, std::log(1.05), 1e-6);
  EXPECT_NEAR(slower.power, 0, 1e-6);
  EXPECT_GT(slower.error, p.belief().log_energy_deviation(0));
}

TEST(Program, FromTheFoundSettingADepartureIsToldThoughTheOneBeforeHadIt) {
  Program p = made();
  p.add(1, stretch(0, 5));
  p.add(0, stretch(10, 15, 1.1 * 0.96, 0.8 / 1.1));
  const auto beside = p.departure(0, stretch(20, 25, 1.1 * 0.96, 0.8 / 1.1));
  const auto level = p.departure_from_found(0, stretch(20, 25, 1.1 * 0.96, 0.8 / 1.1));
  EXPECT_NEAR(beside.size(), 0, 1e-9);
  EXPECT_NEAR(level.time, std::log(0.96), 1e-3);
  EXPECT_NEAR(level.power, 0, 1e-3);
}

}  // namespace
}  // namespace rubato::govern
