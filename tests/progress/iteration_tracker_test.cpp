#include "progress/iteration_tracker.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>
#include <rubato/mark_layout.h>

#include <algorithm>

namespace rubato::progress {
namespace {

using testing::HasSubstr;

TimePoint at_s(double seconds) {
  return TimePoint{} + Seconds(seconds);
}

struct Thread {
  std::int32_t pid = 1;
  std::int32_t tid = 1;
  std::int32_t rank = -1;
};

Mark mark(double at, std::uint32_t kind, std::uint64_t id, Thread thread = {}) {
  return {.at = at_s(at), .kind = kind, .id = id, .pid = thread.pid, .tid = thread.tid, .rank = thread.rank};
}
Mark begins(double at, std::uint64_t id, Thread thread = {}) {
  return mark(at, RUBATO_MARK_ITERATION_BEGIN, id, thread);
}
Mark ends(double at, std::uint64_t id, Thread thread = {}) {
  return mark(at, RUBATO_MARK_ITERATION_END, id, thread);
}

// `count` iterations of 0.4 s, one each 0.5 s.
std::vector<Mark> regular(double from, std::uint64_t count, Thread thread = {}) {
  std::vector<Mark> marks;
  for (std::uint64_t i = 0; i < count; ++i) {
    const double t = from + 0.5 * static_cast<double>(i);
    marks.push_back(begins(t, i, thread));
    marks.push_back(ends(t + 0.4, i, thread));
  }
  return marks;
}

TEST(IterationTracker, PairsBeginAndEndById) {
  IterationTracker tracker;
  tracker.add(regular(1, 3));
  const auto done = tracker.take();
  ASSERT_EQ(done.size(), 3U);
  EXPECT_EQ(done[2].iteration.index, 2);
  EXPECT_EQ(done[2].iteration.begin, at_s(2));
  EXPECT_EQ(done[2].iteration.end, at_s(2.4));
  EXPECT_FALSE(done[2].ended_by_next_begin);
  EXPECT_EQ(tracker.completed(), 3);
  EXPECT_EQ(tracker.last_end(), at_s(2.4));
  EXPECT_TRUE(tracker.take().empty());
}

TEST(IterationTracker, WithoutEndMarksABeginEndsTheOneBefore) {
  IterationTracker tracker;
  for (std::uint64_t i = 0; i < 4; ++i) tracker.add(begins(0.5 * static_cast<double>(i), i));
  const auto done = tracker.take();
  ASSERT_EQ(done.size(), 3U);
  EXPECT_TRUE(done[0].ended_by_next_begin);
  EXPECT_EQ(done[0].iteration.duration(), 0.5_s);
}

TEST(IterationTracker, LostMarksCountIterationsButInventNoTimes) {
  IterationTracker tracker;
  tracker.add(begins(0, 0));
  tracker.add(ends(0.4, 0));
  tracker.add(begins(2.5, 5));
  tracker.add(ends(2.9, 5));
  const auto done = tracker.take();
  ASSERT_EQ(done.size(), 2U);
  EXPECT_EQ(done[1].iteration.duration(), 0.4_s);
  EXPECT_EQ(tracker.completed(), 6);
  EXPECT_EQ(tracker.lost(), 4);
}

TEST(IterationTracker, AnEndWhoseBeginWasLostIsCountedButNotTimed) {
  IterationTracker tracker;
  tracker.add(ends(0.4, 7));
  tracker.add(begins(0.5, 8));
  tracker.add(ends(0.9, 8));
  EXPECT_EQ(tracker.take().size(), 1U);
  EXPECT_EQ(tracker.completed(), 2);
}

TEST(IterationTracker, IdsThatStartAgainWithEachEpochAreNoLoss) {
  IterationTracker tracker;
  tracker.add(regular(0, 3));
  tracker.add(regular(2, 3));
  EXPECT_EQ(tracker.take().size(), 6U);
  EXPECT_EQ(tracker.lost(), 0);
}

TEST(IterationTracker, EpochAndPhaseMarksDoNotDisturbTiming) {
  IterationTracker tracker;
  tracker.add(mark(0, RUBATO_MARK_EPOCH_BEGIN, 0));
  tracker.add(begins(0.1, 0));
  tracker.add(mark(0.2, RUBATO_MARK_PHASE_BEGIN, RUBATO_PHASE_FORWARD));
  tracker.add(mark(0.3, RUBATO_MARK_EPOCH_END, 0));
  tracker.add(ends(0.4, 0));
  const auto done = tracker.take();
  ASSERT_EQ(done.size(), 1U);
  EXPECT_NEAR(done[0].iteration.duration().value(), 0.3, 1e-9);
}

TEST(IterationTracker, RankZeroIsTheClockOfTheJob) {
  IterationTracker tracker;
  for (std::int32_t rank = 3; rank >= 0; --rank) {
    tracker.add(regular(0, rank == 0 ? 4 : 5, {.pid = 100 - rank, .tid = 1, .rank = rank}));
  }
  EXPECT_EQ(tracker.take().size(), 4U);
  ASSERT_TRUE(tracker.clock());
  EXPECT_EQ(tracker.clock()->rank, 0);
  EXPECT_EQ(tracker.clock()->pid, 100);
  EXPECT_THAT(tracker.clock()->why, HasSubstr("rank 0"));
}

TEST(IterationTracker, WithoutRanksTheBusiestStreamIsTheClock) {
  IterationTracker tracker;
  tracker.add(regular(0, 2, {.pid = 1, .tid = 1}));
  tracker.add(regular(0, 9, {.pid = 1, .tid = 2}));
  EXPECT_EQ(tracker.take().size(), 9U);
  EXPECT_EQ(tracker.clock()->tid, 2);
  EXPECT_THAT(tracker.clock()->why, HasSubstr("busiest of 2"));
}

TEST(IterationTracker, AChangeOfClockCountsNoIterationTwice) {
  IterationTracker tracker;
  tracker.add(regular(0, 4, {.pid = 1, .tid = 1, .rank = -1}));
  EXPECT_EQ(tracker.take().size(), 4U);
  // Rank 0 turns up late, with its own view of the same four iterations and two more.
  tracker.add(regular(0, 6, {.pid = 2, .tid = 2, .rank = 0}));
  const auto done = tracker.take();
  ASSERT_EQ(done.size(), 2U);
  EXPECT_EQ(done[0].iteration.index, 4);
  EXPECT_EQ(tracker.completed(), 6);
}

TEST(IterationTracker, AProcessThatEndedHandsTheClockToItsSuccessor) {
  IterationTracker tracker;
  tracker.add(regular(0, 100, {.pid = 1, .tid = 1, .rank = 0}));
  EXPECT_EQ(tracker.take().size(), 100U);
  tracker.add(regular(100, 3, {.pid = 2, .tid = 2, .rank = 0}));
  EXPECT_EQ(tracker.take().size(), 3U);
  EXPECT_EQ(tracker.clock()->pid, 2);
  EXPECT_EQ(tracker.completed(), 103);
}

// A script that trains three times: nothing of the later ones is lost, and nothing is counted twice.
TEST(IterationTracker, ProcessesOneAfterAnotherAreAllCounted) {
  IterationTracker tracker;
  std::vector<Mark> marks;
  for (int run = 0; run < 3; ++run)
    for (const Mark& mark : regular(1 + 13 * run, 20, {.pid = 10 + run, .tid = 10 + run}))
      marks.push_back(mark);
  std::vector<TrackedIteration> done;
  for (const Mark& mark : marks) {
    tracker.add(mark);
    for (const TrackedIteration& one : tracker.take()) done.push_back(one);
  }
  ASSERT_EQ(done.size(), 60U);
  for (std::size_t i = 0; i < done.size(); ++i)
    EXPECT_EQ(done[i].iteration.index, static_cast<std::int64_t>(i));
  EXPECT_EQ(done[20].iteration.begin, at_s(14));
  ASSERT_TRUE(done[20].pause_before);
  EXPECT_NEAR(done[20].pause_before->value(), 14 - 10.9, 1e-6);
  EXPECT_EQ(tracker.completed(), 60);
}

TEST(IterationTracker, AProcessThatOnlyBeganLaterIsNoSuccessor) {
  IterationTracker tracker;
  std::vector<Mark> marks = regular(1, 100, {.pid = 10});
  for (const Mark& mark : regular(21.2, 50, {.pid = 11})) marks.push_back(mark);
  std::stable_sort(marks.begin(), marks.end(), [](const Mark& a, const Mark& b) { return a.at < b.at; });
  std::size_t done = 0;
  for (const Mark& mark : marks) {
    tracker.add(mark);
    done += tracker.take().size();
  }
  EXPECT_EQ(done, 100U);
  EXPECT_EQ(tracker.clock()->pid, 10);
}

TEST(IterationTracker, APauseBetweenIterationsIsFlaggedOnTheNext) {
  IterationTracker tracker;
  tracker.add(regular(0, 10));
  tracker.add(begins(30, 10));
  tracker.add(ends(30.4, 10));
  const auto done = tracker.take();
  ASSERT_EQ(done.size(), 11U);
  EXPECT_FALSE(done[9].pause_before);
  ASSERT_TRUE(done[10].pause_before);
  EXPECT_NEAR(done[10].pause_before->value(), 25.1, 1e-6);
  EXPECT_FALSE(done[10].paused);
}

TEST(IterationTracker, APauseInsideABeginToBeginTimeIsFlaggedOnIt) {
  IterationTracker tracker;
  for (std::uint64_t i = 0; i < 10; ++i) tracker.add(begins(0.5 * static_cast<double>(i), i));
  tracker.add(begins(30, 10));
  const auto done = tracker.take();
  ASSERT_EQ(done.size(), 10U);
  EXPECT_TRUE(done[9].paused);
  EXPECT_FALSE(done[8].paused);
}

TEST(IterationTracker, AMarkOlderThanItsStreamIsDroppedAndCounted) {
  IterationTracker tracker;
  tracker.add(regular(0, 2));
  tracker.add(begins(0.1, 1));
  EXPECT_EQ(tracker.out_of_order(), 1);
  EXPECT_EQ(tracker.take().size(), 2U);
}

RC_GTEST_PROP(IterationTrackerProperty, WhateverIsLostNothingIsCountedTwiceOrBackwards, ()) {
  const auto marks = regular(0, 50);
  IterationTracker tracker;
  std::int64_t before = 0;
  TimePoint last{INT64_MIN};
  std::size_t timed = 0;
  for (const Mark& m : marks) {
    if (*rc::gen::inRange(0, 4) == 0) continue;
    tracker.add(m);
    for (const auto& done : tracker.take()) {
      ++timed;
      RC_ASSERT(done.iteration.end > last);
      RC_ASSERT(done.iteration.duration() <= 0.5_s);
      last = done.iteration.end;
    }
    RC_ASSERT(tracker.completed() >= before);
    before = tracker.completed();
  }
  RC_ASSERT(tracker.completed() <= 50);
  RC_ASSERT(static_cast<std::int64_t>(timed) + tracker.lost() == tracker.completed());
}

}  // namespace
}  // namespace rubato::progress
