#include <gmock/gmock.h>

#include "analyse/compare.h"
#include "analyse/summary.h"
#include "made_run.h"

namespace rubato::analyse {
namespace {

using namespace testing_data;
using testing::HasSubstr;
using testing::SizeIs;

const Setting k125{.power_limit = 125_W};
const Setting k175{.power_limit = 175_W};

// 200 J and 1 s as found; tries: 100 J and 1.5 s at 125 W, 180 J and 1 s at 175 W; then 150 J and 1.2 s held.
MadeRun searched() {
  MadeRun run;
  run.block(BlockRole::baseline, 40, 1_s, 200_W);
  run.trying(k125).block(BlockRole::trial, 10, 1.5_s, Watts(100 / 1.5));
  run.trying(k175).block(BlockRole::trial, 10, 1_s, 180_W);
  run.trying({}).block(BlockRole::hold, 80, 1.2_s, 125_W);
  return run;
}

TEST(Search, EachTriedSettingStandsAgainstTheFoundOne) {
  const Summary s = summarise(searched().ended());
  ASSERT_TRUE(s.search);
  ASSERT_THAT(s.search->tried, SizeIs(2));
  EXPECT_EQ(s.search->tried[0].setting, k125);
  EXPECT_NEAR(s.search->tried[0].energy_saved->value, 0.5, 1e-9);
  EXPECT_NEAR(s.search->tried[0].slowdown->value, 0.5, 1e-9);
  EXPECT_NEAR(s.search->tried[1].energy_saved->value, 0.1, 1e-9);
  EXPECT_EQ(s.search->began, kBegin + 40_s);
  EXPECT_EQ(s.search->settled, kBegin + 65_s);
  EXPECT_NEAR(s.search->searching.value(), 25, 1e-9);
}

record::ExpectationAt expecting(TimePoint at, const Setting& setting, double energy) {
  return {at,
          {{{.setting = setting, .time = {1.1, 1.05, 1.2}, .energy = {energy, energy - 0.1, energy + 0.2}}}}};
}

TEST(Search, WhatWasExpectedOfATryIsThatOfTheDecisionForIt) {
  record::RunRecord run = searched().ended();
  run.expectations = {expecting(kBegin + 40_s, k125, 0.6), expecting(kBegin + 55_s, k175, 0.8),
                      expecting(kBegin + 65_s, k175, 0.7), expecting(kBegin + 90_s, k175, 0.65)};
  const Summary s = summarise(run);
  ASSERT_TRUE(s.search);
  const auto& first = s.search->tried[0].expected;
  ASSERT_TRUE(first);
  EXPECT_NEAR(first->energy_saved.value, 0.4, 1e-9);
  EXPECT_NEAR(first->energy_saved.interval->low, 0.2, 1e-9) << "most energy, least saved";
  EXPECT_NEAR(first->energy_saved.interval->high, 0.5, 1e-9);
  EXPECT_NEAR(first->slowdown.value, 0.1, 1e-9);
  EXPECT_NEAR(first->slowdown.interval->high, 0.2, 1e-9);
  ASSERT_TRUE(s.search->tried[1].expected);
  EXPECT_NEAR(s.search->tried[1].expected->energy_saved.value, 0.2, 1e-9);
  EXPECT_EQ(s.search->choice, 2U) << "as it stood when a setting was held";
}

TEST(Search, WithoutExpectationsNothingIsExpected) {
  const Summary s = summarise(searched().ended());
  EXPECT_FALSE(s.search->choice);
  EXPECT_FALSE(s.search->tried[0].expected);
}

TEST(Search, ItsCostBelongsToTheRunAndNotToTheChosenSetting) {
  const Summary s = summarise(searched().ended());
  ASSERT_TRUE(s.savings) << s.why_no_savings;
  EXPECT_EQ(s.savings->hold_iterations, 80);
  EXPECT_NEAR(s.savings->energy_per_iteration.value, 0.25, 1e-9);
  EXPECT_NEAR(s.savings->slowdown.value, 0.2, 1e-9);
  // 80 iterations of 50 J less, 10 of 100 J and 10 of 20 J; of 140 that would have taken 200 J.
  EXPECT_NEAR(s.savings->run_saved.value(), 4000 + 1000 + 200, 1e-6);
  EXPECT_NEAR(s.savings->run_energy.value, 5200.0 / 28000, 1e-9);
  // 16 s while held and 5 s at 125 W.
  EXPECT_NEAR(s.savings->run_longer.value(), 21, 1e-6);
  EXPECT_NEAR(s.savings->run_slowdown.value, 21.0 / 140, 1e-9);
}

TEST(Search, TheWayToATrySettlesNothingButCountsInTheWholeRun) {
  MadeRun run;
  run.block(BlockRole::baseline, 40, 1_s, 200_W);
  run.trying(k125).block(BlockRole::warmup, 2, 1.5_s, 100_W).block(BlockRole::trial, 10, 1_s, 180_W);
  run.block(BlockRole::hold, 10, 1_s, 180_W);
  const Summary s = summarise(run.ended());
  ASSERT_TRUE(s.savings) << s.why_no_savings;
  EXPECT_NEAR(s.search->tried[0].energy_saved->value, 0.1, 1e-9);
  // 20 iterations of 20 J less, 2 of 50 J less.
  EXPECT_NEAR(s.savings->run_saved.value(), 500, 1e-6);
}

TEST(Search, ARunThatEndsWhileTryingChoseNothing) {
  MadeRun run;
  run.block(BlockRole::baseline, 40, 1_s, 200_W);
  run.trying(k125).block(BlockRole::trial, 10, 1.5_s, 100_W);
  const record::RunRecord ended = run.ended();
  const Summary s = summarise(ended);
  EXPECT_FALSE(s.savings);
  EXPECT_THAT(s.why_no_savings, HasSubstr("still being tried"));
  ASSERT_TRUE(s.search);
  EXPECT_FALSE(s.search->settled);
  EXPECT_NEAR(s.search->searching.value(), 15, 1e-9);
  EXPECT_EQ(settled_cost(ended).cost->iterations, 40) << "what it cost where it settled: as found";
}

TEST(Search, ASecondLookAtASettingIsNoOtherSettingAndALaterOneIsWatching) {
  MadeRun run = searched();
  run.trying(k125).block(BlockRole::trial, 10, 1.5_s, Watts(100 / 1.5));
  run.trying({.power_limit = 140_W}).block(BlockRole::trial, 10, 1_s, 180_W);
  run.block(BlockRole::hold, 10, 1.2_s, 125_W);
  const Summary s = summarise(run.ended());
  ASSERT_THAT(s.search->tried, SizeIs(3));
  EXPECT_EQ(s.search->tried[0].iterations, 20);
  EXPECT_FALSE(s.search->tried[0].while_watching);
  EXPECT_TRUE(s.search->tried[2].while_watching);
  EXPECT_NEAR(s.search->searching.value(), 25, 1e-9);
}

TEST(Search, ThatHeldSettingsDifferIsNoErrorOfTheirSum) {
  MadeRun run;
  run.block(BlockRole::baseline, 100, 1_s, 200_W, 0.01);
  for (int turn = 0; turn < 5; ++turn)
    run.holding(k125)
        .block(BlockRole::hold, 20, 1_s, 100_W, 0.01)
        .holding(k175)
        .block(BlockRole::hold, 20, 1_s, 180_W, 0.01);
  const Summary s = summarise(run.ended());
  ASSERT_TRUE(s.savings) << s.why_no_savings;
  const Estimate& saved = s.savings->energy_per_iteration;
  EXPECT_NEAR(saved.value, 0.3, 0.005);
  ASSERT_TRUE(saved.interval);
  EXPECT_LT(saved.interval->high - saved.interval->low, 0.02);
}

TEST(Search, WithoutTriesThereIsNone) {
  EXPECT_FALSE(summarise(MadeRun().block(BlockRole::baseline, 4, 1_s, 200_W).ended()).search);
}

}  // namespace
}  // namespace rubato::analyse
