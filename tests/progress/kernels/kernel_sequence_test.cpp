#include "progress/kernel_sequence.h"

#include <gmock/gmock.h>

#include <cmath>

#include "progress/kernels/algebra.h"

namespace rubato::progress::kernels {
namespace {

using testing::HasSubstr;

TEST(KernelSequence, SaysNothingBeforeItHasSeenAnything) {
  const KernelSequence sequence;
  EXPECT_FALSE(sequence.estimate());
  EXPECT_FALSE(sequence.rate());
  EXPECT_EQ(sequence.dropped(), 0U);
}

TEST(KernelSequence, OneRecordIsNoIteration) {
  Teller t;
  t.play("A");
  EXPECT_FALSE(t.estimate());
  EXPECT_FALSE(t.sequence.rate());
  EXPECT_TRUE(t.sequence.take_iterations().empty());
}

// (A B ... J) x 20
TEST(KernelSequence, WhatRepeatsIsTheIteration) {
  Teller t;
  t.play(times(kTen, 20));
  const auto e = t.estimate();
  ASSERT_TRUE(e);
  EXPECT_TRUE(e->periodic);
  EXPECT_EQ(e->source, ProgressSource::kernels);
  EXPECT_EQ(e->relation, PeriodRelation::exact);
  EXPECT_EQ(e->launches, 10U);
  EXPECT_NEAR(e->period->value(), 0.010, 1e-9);
  EXPECT_GT(e->confidence, 0.6);
}

// (A B ... J) x 50: iterations are told once, in order, from begin to begin.
TEST(KernelSequence, IterationsAreToldOnceFromBeginToBegin) {
  Teller t;
  std::vector<Iteration> all;
  for (int i = 0; i < 50; ++i) {
    t.play(kTen);
    for (const Iteration& one : t.sequence.take_iterations()) all.push_back(one);
  }
  ASSERT_EQ(all.size(), 49U);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].source, ProgressSource::kernels);
    EXPECT_NEAR(all[i].duration().value(), 0.010, 1e-9);
    if (i > 0) {
      EXPECT_EQ(all[i].begin, all[i - 1].end);
      EXPECT_EQ(all[i].index, all[i - 1].index + 1);
    }
  }
}

// (A B B B O) x 40, in the last of which a B was lost
TEST(KernelSequence, ALostLaunchCostsNothing) {
  Teller t;
  t.play(times("ABBBO", 39) + "ABBO" + "A");
  EXPECT_EQ(t.launches(), 5U);
  const auto all = t.sequence.take_iterations();
  EXPECT_GE(all.size(), 39U);
  for (std::size_t i = 1; i < all.size(); ++i) EXPECT_EQ(all[i].begin, all[i - 1].end);
}

// (A B B B O) x 8 with one B lost in the middle: found, although said with little confidence.
TEST(KernelSequence, EightIterationsWithALostLaunchAreFound) {
  Teller t;
  t.play(times("ABBBO", 4) + "ABBO" + times("ABBBO", 3));
  EXPECT_EQ(t.launches(), 5U);
  EXPECT_LT(t.confidence(), 0.9);
}

constexpr std::string_view kForty = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmn";

// ((A B ... Z)^30 (1 2 3)) x 5: sixteen layers are enough to be believed before an iteration has come round,
// and nobody has taken them when it has.
TEST(KernelSequence, LayersThatWereTakenForIterationsAreUnsaid) {
  Teller t;
  t.play(times(times("ABCDEFGHIJKLMNOPQRSTUVWXYZ", 30) + "123", 5));
  EXPECT_EQ(t.launches(), 783U);
  const auto all = t.sequence.take_iterations();
  ASSERT_FALSE(all.empty());
  for (const Iteration& one : all) EXPECT_NEAR(one.duration().value(), 0.783, 1e-9);
}

// (A ... n) x 60, then ((A B ... n)^5) with other kernels x 20, taken once: another phase, longer, holds none
// of the first.
TEST(KernelSequence, ALongerPhaseUnsaysNothingOfTheOneBefore) {
  Teller t;
  t.play(times(kForty, 60));
  t.play(times(times("opqrstuvwxyzopqrstuvwxyz", 3) + times(kTen, 2) + "0123456789", 20));
  std::size_t of_the_first = 0;
  for (const Iteration& one : t.sequence.take_iterations())
    of_the_first += std::abs(one.duration().value() - 0.040) < 1e-9 ? 1 : 0;
  EXPECT_GE(of_the_first, 50U);
}

// ((A B ... n) x 4 (1 2 3)) x 20: micro-batches are not iterations.
TEST(KernelSequence, MicroBatchesBelongToOneIteration) {
  Teller t;
  t.play(times(times(kForty, 4) + "123", 20));
  EXPECT_EQ(t.launches(), 163U);
  EXPECT_THAT(t.estimate()->why, HasSubstr("4 micro-batches"));
}

// The same, seen from the middle of a micro-batch on: an iteration begins after the optimizer's last launch.
TEST(KernelSequence, AnIterationOfMicroBatchesBeginsAfterTheOptimizer) {
  Teller t;
  t.play("defghijklmn 123");
  const TimePoint begin = t.now;
  t.play(times(times(kForty, 4) + "123", 20));
  const auto all = t.sequence.take_iterations();
  ASSERT_GE(all.size(), 10U);
  EXPECT_NEAR(std::fmod((all.back().begin - begin).value() + 1e-6, 0.163), 0, 1e-5);
}

// ((M N)^12 (P Q R)^12 O) x 20: layers are not iterations.
TEST(KernelSequence, LayersBelongToOneIteration) {
  Teller t;
  t.play(times(times("MN", 12) + times("PQR", 12) + "O", 20));
  EXPECT_EQ(t.launches(), 61U);
}

// (A B ... J) x 10 L, all that eight times: a log line is no part of the iteration.
TEST(KernelSequence, ALogLineEveryTenthIterationIsNotInIt) {
  Teller t;
  std::string one;
  for (int i = 0; i < 5; ++i) one += kTen;
  t.play(times(times(one, 10) + "L", 8));
  EXPECT_NE(t.launches(), 501U);
}

// (T U V ... W)^1 with other kernels in between, then (A B ... J) x 30
TEST(KernelSequence, TuningAtTheStartIsForgotten) {
  Teller t;
  t.play(
      "AaBbccCddDeeefEFghhGijjHkkIllJ"
      "AmmBnnCooDEFppGHqqIJ");
  t.play(times(kTen, 30));
  EXPECT_EQ(t.launches(), 10U);
}

// (A1 B1 C1 O)(A2 B2 C2 O): shapes in turn have other grids but the same kernels.
TEST(KernelSequence, GridsThatFollowTheDataDoNotHideTheIteration) {
  Teller t;
  for (std::uint32_t i = 0; i < 60; ++i) {
    t.next.grid = {1 + i * i % 7, 1, 1};
    t.play("ABCDEFGH");
    t.next.grid = {99, 1, 1};
    t.play("OPQ");
  }
  EXPECT_EQ(t.launches(), 11U);
  EXPECT_THAT(t.estimate()->why, HasSubstr("grids"));
}

// A launch of a CUDA graph is one token, its graph the only thing that counts.
TEST(KernelSequence, AGraphIsOneLaunch) {
  Teller t;
  for (int i = 0; i < 60; ++i) {
    t.next.graph = 5;
    t.play("GG");
    t.next.graph = 6;
    t.play("G");
    t.next.graph = 0;
    t.play("O");
  }
  EXPECT_EQ(t.launches(), 4U);
}

// G G G G: one graph over and over may well hold the iteration, but that is not certain.
TEST(KernelSequence, OneGraphOverAndOverIsTakenForTheIterationWithLittleConfidence) {
  Teller t;
  t.next.graph = 5;
  t.play(times("G", 200));
  EXPECT_EQ(t.launches(), 1U);
  EXPECT_LT(t.confidence(), 0.7);
}

// A A A A: one kernel over and over is no iteration; the rate is what there is.
TEST(KernelSequence, OneKernelOverAndOverHasNoPeriodButARate) {
  Teller t;
  t.play(times("A", 3'000));
  const auto e = t.estimate();
  ASSERT_TRUE(e);
  EXPECT_FALSE(e->periodic);
  EXPECT_FALSE(e->period);
  EXPECT_GT(e->confidence, 0.9);
  const auto rate = t.sequence.rate();
  ASSERT_TRUE(rate);
  EXPECT_EQ(rate->kind, RateKind::kernels);
  EXPECT_NEAR(rate->per_second, 1'000, 1e-3);
  EXPECT_LT(*rate->half_width, 0.01);
}

// Cycles of 95 ms of each second, beginning anywhere in (A B ... J): the pattern is found again each time.
TEST(KernelSequence, APatternIsFoundAgainInTheNextCycle) {
  Teller t;
  const std::string endless = times(kTen, 12);
  std::size_t told = 0;
  for (std::size_t cycle = 0; cycle < 10; ++cycle) {
    t.play(std::string_view(endless).substr(cycle % 10, 95));
    t.sequence.cycle_ended(t.now, t.next.pid);
    const std::size_t now = t.sequence.take_iterations().size();
    if (cycle > 0) {
      EXPECT_GE(now, 8U) << cycle;
    }
    told += now;
    t.pause(0.905);
  }
  EXPECT_EQ(t.launches(), 10U);
  EXPECT_GE(told, 80U);
}

TEST(KernelSequence, ACycleShorterThanAnIterationLowersTheConfidenceAndSaysSo) {
  Teller t;
  t.play(times(kTen, 100));
  t.sequence.cycle_ended(t.now, t.next.pid);
  const double before = t.confidence();
  EXPECT_GT(before, 0.8);
  for (int i = 0; i < 3; ++i) {
    t.pause(1);
    t.play("CDEFGH");
    t.sequence.cycle_ended(t.now, t.next.pid);
  }
  EXPECT_EQ(t.launches(), 10U);
  EXPECT_LT(t.confidence(), 0.8 * before);
  EXPECT_THAT(t.estimate()->why, HasSubstr("0.6 of one"));
  t.pause(1);
  t.play(times(kTen, 3));
  t.sequence.cycle_ended(t.now, t.next.pid);
  EXPECT_NEAR(t.confidence(), before, 0.05);
}

// No iteration spans a break: what lies in between may be anything.
TEST(KernelSequence, NoIterationIsToldAcrossABreak) {
  Teller t;
  t.play(times(kTen, 40) + "ABCDE");
  t.sequence.cycle_ended(t.now, t.next.pid);
  t.pause(1);
  t.play("FGHIJ" + times(kTen, 40));
  for (const Iteration& i : t.sequence.take_iterations()) EXPECT_LT(i.duration(), 0.011_s);
  t.next.lost_before = 1'000;
  t.play("FGHIJ" + times(kTen, 4));
  for (const Iteration& i : t.sequence.take_iterations()) EXPECT_LT(i.duration(), 0.011_s);
}

TEST(KernelSequence, AnEvaluationDoesNotChangeThePeriod) {
  Teller t;
  t.play(times(kTen, 100));
  t.play(times("ABCxE", 60));
  EXPECT_EQ(t.launches(), 10U);
  t.play(times(kTen, 5));
  EXPECT_EQ(t.launches(), 10U);
}

TEST(KernelSequence, AnotherJobReplacesThePeriodOnceItHasLasted) {
  Teller t;
  t.play(times(kTen, 100));
  t.play(times("abcdefghijklm", 200));
  EXPECT_EQ(t.launches(), 13U);
}

TEST(KernelSequence, LaunchesOfAllStreamsOfTheProcessAreCounted) {
  Teller t;
  for (int i = 0; i < 60; ++i) {
    t.next.stream = 7;
    t.play(kTen);
    t.next.stream = 20;
    t.play("zz");
  }
  EXPECT_EQ(t.launches(), 12U);
}

TEST(KernelSequence, ThePeriodFollowsTheClock) {
  Teller t;
  t.play(times(kTen, 100));
  const TimePoint slow_from = t.now;
  for (int i = 0; i < 100; ++i)
    for (const char c : kTen) {
      t.play({&c, 1});
      t.pause(0.0005);
    }
  EXPECT_NEAR(t.estimate()->period->value(), 0.015, 1e-4);
  for (const Iteration& i : t.sequence.take_iterations())
    if (i.begin > slow_from) {
      EXPECT_NEAR(i.duration().value(), 0.015, 0.001);
    }
}

TEST(KernelSequence, ASlowDriftIsStated) {
  Teller t;
  for (int i = 0; i < 300; ++i) {
    t.play(kTen);
    t.pause(0.1 + 0.0001 * i);
  }
  // 0.0001 s more every 0.11 to 0.14 s.
  ASSERT_TRUE(t.estimate()->drift_per_minute);
  EXPECT_NEAR(*t.estimate()->drift_per_minute, 0.0001 / 0.13 / 0.13 * 60, 0.1);
}

}  // namespace
}  // namespace rubato::progress::kernels
