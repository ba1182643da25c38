// Several processes on one GPU, or one after another: whose kernels are followed, and until when.
#include <gmock/gmock.h>

#include "progress/kernel_sequence.h"
#include "progress/kernels/algebra.h"

namespace rubato::progress::kernels {
namespace {

TEST(KernelProcesses, OfTwoProcessesTheBusierOneCounts) {
  Teller t;
  for (int i = 0; i < 60; ++i) {
    for (const char c : kTen) {
      t.next.pid = 1;
      t.play({&c, 1});
      if (c % 3 != 0) continue;
      t.next.pid = 2;
      t.play("z");
    }
  }
  EXPECT_EQ(t.launches(), 10U);
  EXPECT_THAT(t.estimate()->why, HasSubstr("process 1 alone"));
}

// Eight ranks, each on a GPU of its own: every one tells of the end of its cycle.
TEST(KernelProcesses, CyclesOfProcessesThatRunNothingHereAreIgnored) {
  Teller alone;
  Teller ranks;
  for (int cycle = 0; cycle < 10; ++cycle)
    for (Teller* t : {&alone, &ranks}) {
      t->next.pid = 1;
      t->play(times(kTen, 9) + "ABCDE");
      const std::int32_t last = t == &ranks ? 8 : 1;
      for (std::int32_t pid = 1; pid <= last; ++pid) t->sequence.cycle_ended(t->now, pid);
      t->pause(0.9);
    }
  EXPECT_EQ(ranks.launches(), 10U);
  EXPECT_DOUBLE_EQ(ranks.confidence(), alone.confidence());
  EXPECT_EQ(ranks.sequence.take_iterations().size(), alone.sequence.take_iterations().size());
}

// Two processes on one GPU, of which the lesser one's cycles end in the midst of the other's iterations.
TEST(KernelProcesses, OnlyTheFollowedProcessEndsItsCycles) {
  Teller t;
  for (int i = 0; i < 60; ++i) {
    t.next.pid = 1;
    t.play("ABCDE");
    t.next.pid = 2;
    t.play("z");
    t.sequence.cycle_ended(t.now, 2);
    t.next.pid = 1;
    t.play("FGHIJ");
  }
  EXPECT_EQ(t.launches(), 10U);
  EXPECT_THAT(t.estimate()->why, Not(HasSubstr("no whole iteration")));
  EXPECT_EQ(t.sequence.take_iterations().size(), 59U);
}

TEST(KernelProcesses, TrainingsOneAfterAnotherAreEachFollowed) {
  Teller t;
  for (std::int32_t pid = 1; pid <= 5; ++pid) {
    t.next.pid = pid;
    const std::string_view iteration = kForty.substr(0, 10 + static_cast<std::size_t>(pid));
    for (int cycle = 0; cycle < 12; ++cycle) {
      t.play(times(iteration, 9));
      t.sequence.cycle_ended(t.now, pid);
      t.pause(1);
    }
    EXPECT_EQ(t.launches(), iteration.size());
    EXPECT_FALSE(t.sequence.take_iterations().empty());
  }
}

// The same without cycles: what was long ago counts for less after many launches too.
TEST(KernelProcesses, ATrainingThatIsRecordedWithoutABreakIsLeftOnceItHasEnded) {
  Teller t;
  t.next.pid = 1;
  t.play(times(kTen, 30'000));
  t.next.pid = 2;
  t.play(times("abcdefghijklm", 20'000));
  EXPECT_EQ(t.launches(), 13U);
}

TEST(KernelProcesses, APeriodIsAsOldAsTheNewestRecordOfItsProcess) {
  Teller t;
  t.next.pid = 1;
  t.play(times(kTen, 100));
  const TimePoint newest = t.next.begin;
  t.next.pid = 2;
  t.play(times("abcdefg", 40));
  EXPECT_EQ(t.launches(), 10U);
  EXPECT_EQ(t.estimate()->at, newest);
}

TEST(KernelProcesses, AfterManyShortProcessesALongOneIsFollowed) {
  Teller t;
  for (std::int32_t pid = 1; pid <= 400; ++pid) {
    t.next.pid = pid;
    t.play(times(kTen, 10));
  }
  for (int cycle = 0; cycle < 12; ++cycle) {
    t.next.pid = 1'000;
    t.play(times("abcdefghijklm", 20));
    t.sequence.cycle_ended(t.now, 1'000);
  }
  EXPECT_EQ(t.sequence.dropped(), 0U);
  EXPECT_EQ(t.launches(), 13U);
}

}  // namespace
}  // namespace rubato::progress::kernels
