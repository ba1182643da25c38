#include "plan/pipeline/frontier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>

#include "plan/pipeline/perseus_files.h"
#include "profiles.h"

namespace rubato::plan {
namespace {

using testing::HasSubstr;

constexpr double kSame = 1e-6;

Pipeline made(StageProfile profile, const FrontierWishes& wanted) {
  auto pipeline = Pipeline::make(std::move(profile), wanted);
  if (!pipeline) throw std::runtime_error(pipeline.error().what);
  return std::move(*pipeline);
}

std::string refused(StageProfile profile, const FrontierWishes& wanted) {
  const auto pipeline = Pipeline::make(std::move(profile), wanted);
  return pipeline ? "it was taken" : pipeline.error().what;
}

TEST(Frontier, OneMicroBatchIsAChainThatSlowsAtOnePrice) {
  // Above waiting an instruction is 400 J in 1 s or 100 J in 2 s; both stages wait at 100 W all the time.
  const Frontier frontier = *made(two_clocks(2), wishes(1, 100)).frontier();
  ASSERT_EQ(frontier.points.size(), 1001U);
  EXPECT_NEAR(frontier.points.front().continuous.time.value(), 4, kSame);
  EXPECT_NEAR(frontier.points.front().continuous.energy.value(), 4 * 400 + 2 * 100 * 4, kSame);
  EXPECT_NEAR(frontier.points.back().continuous.time.value(), 8, kSame);
  EXPECT_NEAR(frontier.points.back().continuous.energy.value(), 4 * 100 + 2 * 100 * 8, kSame);
  EXPECT_NEAR(frontier.points[500].continuous.energy.value(), (2400 + 2000) / 2, kSame);
}

TEST(Frontier, WhatWaitsAnywayIsSlowedAtNoCostInTime) {
  // Stage 0 waits a second before each of its backwards: its second forward and first backward have time.
  const Pipeline pipeline = made(two_clocks(2), wishes(2, 100));
  const ChosenPoint fastest = pipeline.at(pipeline.fastest());
  EXPECT_NEAR(fastest.point.realised.time.value(), 6, kSame);
  EXPECT_NEAR(fastest.point.realised.energy.value(), 6 * 400 + 2 * 100 + 2 * 100 * 6, kSame);
  const IterationCost highest = pipeline.cost(pipeline.all_at_highest());
  EXPECT_NEAR(highest.time.value(), 6, kSame);
  EXPECT_NEAR(highest.energy.value(), 8 * 400 + 2 * 100 * 6, kSame);
  EXPECT_EQ(perseus_clocks(pipeline.schedule(), fastest),
            "[\n[('forward', 1400), ('forward', 700), ('backward', 700), ('backward', 1400)],\n"
            "[('forward', 1400), ('backward', 1400), ('forward', 1400), ('backward', 1400)],\n]\n"
            "# time 6 s, energy 3800 J for one iteration\n");
}

TEST(Frontier, EndsWhereWaitingCostsMoreThanSlowingSaves) {
  // A second more saves 200 J in one instruction, and four stages wait through it at 100 W.
  const Pipeline pipeline =
      made(equal_stages(4, {{1400_MHz, 1_s, 400_J}, {700_MHz, 2_s, 300_J}}), wishes(1, 100));
  const Frontier frontier = *pipeline.frontier();
  ASSERT_EQ(frontier.points.size(), 1U);
  EXPECT_NEAR(frontier.points[0].continuous.time.value(), 8, kSame);
  EXPECT_NEAR(pipeline.at(100_s).point.continuous.time.value(), 8, kSame);
}

TEST(Frontier, ADeadlineWithoutAMeasuredClockIsMetByMixingClocks) {
  const Pipeline pipeline = made(two_clocks(2), wishes(1, 100));
  const ChosenPoint chosen = pipeline.at(Seconds(5.5));
  EXPECT_NEAR(chosen.point.continuous.energy.value(), 2400 - 1.5 * 100, kSame);
  EXPECT_NEAR(chosen.point.realised.time.value(), 5, kSame);
  EXPECT_EQ(std::count(chosen.clocks.begin(), chosen.clocks.end(), 700_MHz), 1);
}

TEST(Frontier, TimesMayBeFlooredAndAreReplayedExactly) {
  const Pipeline pipeline =
      made(equal_stages(2, {{1400_MHz, 1.9_s, 500_J}, {700_MHz, 2.9_s, 460_J}}), wishes(1, 50, 1_s));
  const Frontier frontier = *pipeline.frontier();
  ASSERT_EQ(frontier.points.size(), 1U);  // two stages' 100 W outweigh the 90 J that a second saves
  EXPECT_NEAR(frontier.points[0].continuous.time.value(), 4, kSame);
  EXPECT_NEAR(frontier.points[0].continuous.energy.value(), 4 * (500 - 50) + 2 * 50 * 4, kSame);
  EXPECT_NEAR(frontier.points[0].realised.time.value(), 4 * 1.9, kSame);
  EXPECT_NEAR(pipeline.counted_time(pipeline.all_at_highest()).value(), 4, kSame);
}

TEST(Frontier, AUnitHasARowForEach) {
  const Frontier frontier = *made(two_clocks(2), wishes(1, 100, Seconds(0.5))).frontier();
  ASSERT_EQ(frontier.points.size(), 9U);
  for (std::size_t i = 0; i < 9; ++i)
    EXPECT_NEAR(frontier.points[i].continuous.time.value(), 4 + 0.5 * static_cast<double>(i), kSame);
}

TEST(Frontier, ClocksThatNeverPayAreDroppedAndCounted) {
  const std::vector<StageOption> options = {
      {1400_MHz, 1_s, 500_J},
      {1300_MHz, Seconds(1.1), 520_J},  // slower and dearer
      {1000_MHz, Seconds(1.5),
       460_J},  // cheaper than the first, though above the line between its neighbours
      {700_MHz, 2_s, 300_J},
      {600_MHz, Seconds(2.5), 340_J}};  // dearer, yet less than waiting half a second
  const auto curve = duration_curve(options, 100_W, {}, "stage 0 forward");
  ASSERT_TRUE(curve);
  EXPECT_EQ(curve->dropped, 1U);
  EXPECT_EQ(curve->options.size(), 4U);
  ASSERT_EQ(curve->corners.size(), 3U);
  EXPECT_EQ(curve->corners[0].measured.frequency, 600_MHz);
  EXPECT_EQ(curve->corners[1].measured.frequency, 700_MHz);
  EXPECT_EQ(curve->corners[2].measured.frequency, 1400_MHz);
  EXPECT_NEAR(curve->effective(1500000000).value(), 250, kSame);
  const auto without = duration_curve(options, 0_W, {}, "stage 0 forward");
  EXPECT_EQ(without->dropped, 2U);
}

TEST(Frontier, WhatCannotBeIsRefusedByName) {
  EXPECT_THAT(refused(two_clocks(1), wishes(1, 0)), HasSubstr("made has 1 stage; a pipeline has at least 2"));
  EXPECT_THAT(refused(two_clocks(2), wishes(0, 0)), HasSubstr("0 micro-batches"));
  EXPECT_THAT(refused(two_clocks(2), wishes(10000000, 0)), HasSubstr("10000000 micro-batches"));
  EXPECT_THAT(refused(two_clocks(2), wishes(1, 200)),
              HasSubstr("stage 0 forward at 700 MHz draws 150 W, less than the 200 W of a stage that waits"));
  EXPECT_THAT(refused(two_clocks(2), wishes(1, 100, 3_s)), HasSubstr("less than the time unit"));
  EXPECT_THAT(refused(two_clocks(2), wishes(1, 100, Seconds(1e-12))), HasSubstr("at least 1"));
  EXPECT_THAT(refused(equal_stages(2, {{1_MHz, 1000000_s, 1000000_J}}), wishes(10000, 0)),
              HasSubstr("in this time unit"));
  EXPECT_THAT(made(two_clocks(2), wishes(1, 100, Seconds(1e-6))).frontier().error().what,
              HasSubstr("time units"));
}

TEST(Frontier, AStragglersPipelineGivesItsTimeToTheOthers) {
  StageProfile profile = two_clocks(2);
  for (auto& pass : profile.stages[0].passes) pass.push_back({350_MHz, 3_s, 380_J});
  const Pipeline plain = made(profile, wishes(2, 100));
  const Pipeline slow = made(*slowed(profile, 1, 2), wishes(2, 100));
  const InstructionClocks before = plain.at(plain.fastest()).clocks;
  const Seconds time = slow.counted_time(before);
  const IterationCost kept = slow.cost(before);
  EXPECT_NEAR(time.value(), kept.time.value(), kSame);
  const ChosenPoint now = slow.at(time);
  EXPECT_LE(now.point.realised.time, kept.time);
  EXPECT_NEAR((kept.energy - now.point.realised.energy).value(), 2 * 20, kSame);
}

/// Two to three stages and clocks with times and energies that are whole in ms and J.
StageProfile any_profile() {
  const auto clocks = *rc::gen::inRange<std::size_t>(2, 4);
  StageProfile profile{"any", {}};
  for (int stage = 0; stage < 2; ++stage) {
    Stage& added = profile.stages.emplace_back();
    for (auto& pass : added.passes) {
      int ms = *rc::gen::inRange(10, 40);
      int joules = *rc::gen::inRange(60, 100);
      for (std::size_t i = 0; i < clocks; ++i) {
        pass.push_back({Megahertz(1400 - 100 * static_cast<double>(i)), Seconds(1e-3 * ms), Joules(joules)});
        ms += *rc::gen::inRange(1, 15);
        joules -= *rc::gen::inRange(-2, 12);
      }
    }
  }
  return profile;
}

/// The least energy of all combinations of measured clocks that end by `deadline`.
Joules best_of_all(const Pipeline& pipeline, const StageProfile& profile, Seconds deadline) {
  const auto& instructions = pipeline.schedule().instructions;
  std::vector<std::size_t> digit(instructions.size());
  InstructionClocks clocks = pipeline.all_at_highest();
  Joules best(std::numeric_limits<double>::infinity());
  while (true) {
    const IterationCost cost = pipeline.cost(clocks);
    if (cost.time <= deadline + Seconds(kSame)) best = std::min(best, cost.energy);
    std::size_t i = 0;
    for (; i < digit.size(); ++i) {
      const auto& options = profile.stages[instructions[i].stage].of(instructions[i].pass);
      digit[i] = (digit[i] + 1) % options.size();
      clocks[i] = options[digit[i]].frequency;
      if (digit[i] != 0) break;
    }
    if (i == digit.size()) return best;
  }
}

RC_GTEST_PROP(Frontier, IsConvexFallingAndNeverShorterThanTheFastestClocks, ()) {
  const StageProfile profile = any_profile();
  const Pipeline pipeline =
      made(profile, wishes(*rc::gen::inRange<std::size_t>(1, 6), *rc::gen::inRange(0, 200)));
  const auto frontier = pipeline.frontier();
  RC_ASSERT(frontier.has_value());
  const auto& points = frontier->points;
  RC_ASSERT(std::abs((points.front().continuous.time - pipeline.fastest()).value()) < kSame);
  RC_ASSERT(points.front().continuous.time <= pipeline.cost(pipeline.all_at_highest()).time + Seconds(kSame));
  double slope = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < points.size(); ++i) {
    RC_ASSERT(points[i].realised.time <= points[i].continuous.time + Seconds(kSame));
    RC_ASSERT(points[i].realised.energy >=
              points[i].continuous.energy - 8 * 200_W * Seconds(kSame) -
                  2 * pipeline.blocking() * (points[i].continuous.time - points[i].realised.time));
    if (i == 0) continue;
    const double now = (points[i].continuous.energy - points[i - 1].continuous.energy) /
                       (points[i].continuous.time - points[i - 1].continuous.time) / 1_W;
    RC_ASSERT(now <= kSame);
    RC_ASSERT(now >= slope - 1e-3 * std::abs(slope) - kSame);
    slope = now;
  }
}

RC_GTEST_PROP(Frontier, LiesBelowTheBestOfAllMeasuredClocksAndTheChosenOnesDoNot, ()) {
  const StageProfile profile = any_profile();
  const Pipeline pipeline = made(profile, wishes(2, *rc::gen::inRange(0, 200)));
  const Frontier frontier = *pipeline.frontier();
  const Seconds deadline =
      frontier.points[*rc::gen::inRange<std::size_t>(0, frontier.points.size())].continuous.time;
  const Joules best = best_of_all(pipeline, profile, deadline);
  const ChosenPoint chosen = pipeline.at(deadline);
  RC_ASSERT(chosen.point.continuous.energy <= best + Joules(1e-3));
  RC_ASSERT(chosen.point.realised.energy >= best - Joules(1e-3));
  RC_ASSERT(chosen.point.realised.time <= deadline + Seconds(kSame));
}

}  // namespace
}  // namespace rubato::plan
