#include "cli/learnable.h"

#include <gtest/gtest.h>

#include "analyse/made_run.h"

namespace rubato::cli {
namespace {

using analyse::testing_data::kBegin;
using analyse::testing_data::MadeRun;

/// 200 J and 1 s an iteration as found; 150 J and 1.2 s at 150 W, which is held.
MadeRun searched() {
  MadeRun made;
  made.block(BlockRole::baseline, 60, 1_s, 200_W, 0.01);
  made.trying({.power_limit = 120_W}).block(BlockRole::trial, 10, 1.5_s, 110_W, 0.01);
  made.block(BlockRole::hold, 300, 1.2_s, 125_W, 0.01);
  return made;
}

std::optional<record::LearnedSetting> learned(const record::RunRecord& run) {
  return learnable(run, analyse::summarise(run));
}

TEST(Learnable, AnUndisturbedRunTeachesWhatItHeld) {
  const auto out = learned(searched().ended());
  ASSERT_TRUE(out);
  EXPECT_EQ(out->setting, (Setting{.power_limit = 150_W}));
  EXPECT_NEAR(out->time_ratio, 1.2, 0.01);
  EXPECT_NEAR(out->energy_ratio, 0.75, 0.01);
  EXPECT_EQ(out->learned_on, "2026-11-21");
}

TEST(Learnable, ALookAtTheBaselineMayComeLast) {
  EXPECT_TRUE(learned(searched().block(BlockRole::control, 10, 1_s, 200_W, 0.01).ended()));
}

TEST(Learnable, ARunThatEndedWhileTryingTeachesNothing) {
  EXPECT_FALSE(learned(searched().block(BlockRole::trial, 10, 1.5_s, 110_W, 0.01).ended()));
}

TEST(Learnable, AJobThatFailedOrWasInterruptedTeachesNothing) {
  record::RunRecord run = searched().ended();
  run.end->exit_code = 1;
  EXPECT_FALSE(learned(run)) << "failed";
  run.end->exit_code.reset();
  run.end->exit_signal = 2;
  EXPECT_FALSE(learned(run)) << "interrupted";
  run.end.reset();
  EXPECT_FALSE(learned(run)) << "cut short";
}

TEST(Learnable, ARunWithSomebodyElseOnTheGpuTeachesNothing) {
  record::RunRecord run = searched().ended();
  run.decisions = {{kBegin + 90_s, "measure_only", {}, "another program computes on this GPU"}};
  EXPECT_FALSE(learned(run));
  run.decisions.clear();
  run.setting_changes = {{kBegin + 90_s,
                          run.devices[0].info.identity.id,
                          "someone else",
                          {},
                          {.power_limit = 180_W},
                          180_W,
                          std::nullopt,
                          "left alone"}};
  EXPECT_FALSE(learned(run));
}

TEST(Learnable, WhatSavedNothingIsNotKept) {
  MadeRun made;
  made.block(BlockRole::baseline, 60, 1_s, 200_W, 0.01);
  made.block(BlockRole::hold, 300, 1.2_s, 190_W, 0.01);
  EXPECT_FALSE(learned(made.ended()));
}

}  // namespace
}  // namespace rubato::cli
