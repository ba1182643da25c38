#include "analyse/timeline.h"

#include <gmock/gmock.h>

#include "made_training.h"

namespace rubato::analyse {
namespace {

using namespace testing_data;
using testing::SizeIs;

TEST(Timeline, NestsEpochsAndPhasesInATraining) {
  const Timeline t = timeline_of(three_epochs().ended());
  ASSERT_THAT(t.trainings, SizeIs(1));
  ASSERT_THAT(t.epochs, SizeIs(3));
  ASSERT_THAT(t.phases, SizeIs(3));
  EXPECT_NEAR((t.epochs[1].begin - kBegin).value(), 41, 1e-6);
  EXPECT_NEAR(t.epochs[1].duration().value(), 30, 1e-6);
  EXPECT_EQ(t.phases[0].name, "evaluation");
  EXPECT_EQ(t.planned_epochs, 10);
  EXPECT_EQ(t.ignored, 0);
  for (const Span& e : t.epochs) EXPECT_FALSE(e.cut_short);
}

TEST(Timeline, WhatIsOpenWhenTheJobCrashesEndsWithTheSamples) {
  MadeTraining made;
  made.mark(RUBATO_MARK_EPOCH_BEGIN, 0).mark(RUBATO_MARK_WINDOW_BEGIN, 7).wait(8_s, 100_W);
  const Timeline t = timeline_of(made.record());
  ASSERT_THAT(t.epochs, SizeIs(1));
  EXPECT_TRUE(t.epochs[0].cut_short);
  EXPECT_EQ(t.epochs[0].end, made.now());
  ASSERT_THAT(t.windows, SizeIs(1));
  EXPECT_TRUE(t.windows[0].cut_short);
}

TEST(Timeline, AMissingEndIsWhereTheNextEpochBegins) {
  MadeTraining made;
  made.mark(RUBATO_MARK_EPOCH_BEGIN, 0).wait(8_s, 100_W).mark(RUBATO_MARK_EPOCH_BEGIN, 1).wait(5_s, 100_W);
  made.mark(RUBATO_MARK_EPOCH_END, 1);
  const Timeline t = timeline_of(made.ended());
  ASSERT_THAT(t.epochs, SizeIs(2));
  EXPECT_TRUE(t.epochs[0].cut_short);
  EXPECT_NEAR(t.epochs[0].duration().value(), 8, 1e-6);
  EXPECT_FALSE(t.epochs[1].cut_short);
}

TEST(Timeline, AnEpochEndsWithItsTraining) {
  MadeTraining made;
  made.mark(RUBATO_MARK_TRAINING_BEGIN, 0).mark(RUBATO_MARK_EPOCH_BEGIN, 0).wait(5_s, 100_W);
  made.mark(RUBATO_MARK_TRAINING_END, 0).wait(5_s, 100_W);
  const Timeline t = timeline_of(made.ended());
  ASSERT_THAT(t.epochs, SizeIs(1));
  EXPECT_TRUE(t.epochs[0].cut_short);
  EXPECT_NEAR(t.epochs[0].duration().value(), 5, 1e-6);
}

TEST(Timeline, RanksThatMarkTheSameEpochsCountOnce) {
  MadeTraining made;
  for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
    for (const std::int32_t rank : {3, 0, 1}) made.mark(RUBATO_MARK_EPOCH_BEGIN, epoch, 0, 100 + rank, rank);
    made.wait(6_s, 100_W);
    for (const std::int32_t rank : {3, 0, 1}) made.mark(RUBATO_MARK_EPOCH_END, epoch, 0, 100 + rank, rank);
  }
  EXPECT_THAT(timeline_of(made.ended()).epochs, SizeIs(2));
}

TEST(Timeline, AWorkerStartedAnewGoesOnCounting) {
  MadeTraining made;
  made.mark(RUBATO_MARK_EPOCH_BEGIN, 0, 0, 10, 0).wait(6_s, 100_W).mark(RUBATO_MARK_EPOCH_END, 0, 0, 10, 0);
  made.wait(3_s, 50_W);
  made.mark(RUBATO_MARK_EPOCH_BEGIN, 1, 0, 20, 0).wait(6_s, 100_W).mark(RUBATO_MARK_EPOCH_END, 1, 0, 20, 0);
  EXPECT_THAT(timeline_of(made.ended()).epochs, SizeIs(2));
}

TEST(Timeline, IdsThatComeAgainAreOtherEpochs) {
  MadeTraining made;
  for (int fit = 0; fit < 2; ++fit)
    for (std::uint64_t epoch = 0; epoch < 2; ++epoch)
      made.mark(RUBATO_MARK_EPOCH_BEGIN, epoch).wait(1_s, 100_W).mark(RUBATO_MARK_EPOCH_END, epoch);
  EXPECT_THAT(timeline_of(made.ended()).epochs, SizeIs(4));
}

TEST(Timeline, WindowsOfOneNameMayNest) {
  MadeTraining made;
  made.say(RUBATO_MARK_WINDOW_BEGIN, 5, "step")
      .wait(1_s, 100_W)
      .mark(RUBATO_MARK_WINDOW_BEGIN, 5)
      .wait(1_s, 100_W);
  made.mark(RUBATO_MARK_WINDOW_END, 5).wait(1_s, 100_W).mark(RUBATO_MARK_WINDOW_END, 5);
  const Timeline t = timeline_of(made.ended());
  ASSERT_THAT(t.windows, SizeIs(2));
  EXPECT_EQ(t.windows[0].name, "step");
  EXPECT_NEAR(t.windows[0].duration().value(), 3, 1e-6);
  EXPECT_NEAR(t.windows[1].duration().value(), 1, 1e-6);
}

TEST(Timeline, GarbageIsCountedAndLeftOut) {
  MadeTraining made;
  made.mark(RUBATO_MARK_EPOCH_END, 4).mark(99, 1).mark(RUBATO_MARK_PHASE_END, 77).wait(2_s, 100_W);
  made.mark(RUBATO_MARK_EPOCH_BEGIN, 0, UINT64_MAX);
  record::RunRecord run = made.ended();
  run.marks.push_back({.at = TimePoint{5}, .kind = RUBATO_MARK_EPOCH_BEGIN, .id = 9, .pid = 1, .tid = 1});
  run.marks.push_back({.at = kBegin + 1_s, .kind = RUBATO_MARK_EPOCH_BEGIN, .id = 9, .pid = 1, .tid = 1});
  const Timeline t = timeline_of(run);
  EXPECT_EQ(t.ignored, 4);
  EXPECT_FALSE(t.planned_epochs);
  EXPECT_THAT(t.epochs, SizeIs(0));  // it began with the run's last moment
}

TEST(Timeline, HooksAndProblemsAreSaidOnce) {
  MadeTraining made;
  for (int process = 0; process < 3; ++process)
    made.say(RUBATO_MARK_HOOK, 1, "keras 3.6 (jax)")
        .say(RUBATO_MARK_PROBLEM, 2, "the optimizer is not known");
  const Timeline t = timeline_of(made.ended());
  ASSERT_THAT(t.hooks, SizeIs(1));
  EXPECT_EQ(t.hooks[0].text, "keras 3.6 (jax)");
  ASSERT_THAT(t.problems, SizeIs(1));
}

}  // namespace
}  // namespace rubato::analyse
