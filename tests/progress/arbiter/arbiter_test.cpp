#include "progress/arbiter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace rubato::progress {
namespace {

constexpr TimePoint at(double seconds) {
  return TimePoint{} + Seconds(seconds);
}

IterationEstimate says(ProgressSource source, double period_s, double confidence, double when_s = 100) {
  IterationEstimate e;
  e.at = at(when_s);
  e.source = source;
  e.periodic = true;
  e.period = Seconds(period_s);
  e.confidence = confidence;
  return e;
}

IterationEstimate aperiodic(ProgressSource source, double confidence, double when_s = 100) {
  IterationEstimate e;
  e.at = at(when_s);
  e.source = source;
  e.confidence = confidence;
  return e;
}

constexpr auto kMarks = ProgressSource::marks;
constexpr auto kKernels = ProgressSource::kernels;
constexpr auto kTelemetry = ProgressSource::telemetry;

Ruling ruling_of(std::initializer_list<IterationEstimate> told, double now_s = 100) {
  Arbiter arbiter;
  for (const auto& e : told) arbiter.tell(e);
  return arbiter.rule(at(now_s));
}

const Check& check_of(const Ruling& ruling, ProgressSource source) {
  const auto found = std::find_if(ruling.checks.begin(), ruling.checks.end(),
                                  [&](const Check& c) { return c.source == source; });
  EXPECT_NE(found, ruling.checks.end());
  return *found;
}

TEST(Arbiter, RulesNothingWhereNobodySpeaks) {
  const Ruling ruling = Arbiter().rule(at(1));
  EXPECT_FALSE(ruling.estimate);
  EXPECT_TRUE(ruling.checks.empty());
  EXPECT_FALSE(ruling.why.empty());
}

TEST(Arbiter, UsesMarksBeforeKernelsBeforeTelemetry) {
  EXPECT_EQ(
      ruling_of({says(kTelemetry, 1, 0.99), says(kKernels, 1, 0.9), says(kMarks, 1, 0.8)}).estimate->source,
      kMarks);
  EXPECT_EQ(ruling_of({says(kTelemetry, 1, 0.99), says(kKernels, 1, 0.9)}).estimate->source, kKernels);
  EXPECT_EQ(ruling_of({says(kTelemetry, 1, 0.99)}).estimate->source, kTelemetry);
}

TEST(Arbiter, ASourceThatIsNotSureLeavesTheWordToTheNext) {
  const Ruling ruling = ruling_of({says(kKernels, 0.4, 0.3), says(kTelemetry, 1.2, 0.9)});
  EXPECT_EQ(ruling.estimate->source, kTelemetry);
  EXPECT_NEAR(*check_of(ruling, kKernels).ratio, 1.0 / 3, 1e-9);
}

TEST(Arbiter, NobodySureEnoughIsNoEstimate) {
  EXPECT_FALSE(ruling_of({says(kTelemetry, 1, 0.3)}).estimate);
}

TEST(Arbiter, TwoSourcesThatAgreeAreSurerThanOne) {
  const double alone = ruling_of({says(kKernels, 1, 0.8)}).estimate->confidence;
  const Ruling both = ruling_of({says(kKernels, 1, 0.8), says(kTelemetry, 1.01, 0.8)});
  EXPECT_GT(both.estimate->confidence, alone);
  EXPECT_TRUE(check_of(both, kTelemetry).agrees);
  EXPECT_LE(ruling_of({says(kMarks, 1, 0.99), says(kKernels, 1, 0.99), says(kTelemetry, 1, 0.99)})
                .estimate->confidence,
            0.995);
}

// Kernels and power look at one GPU; marks come from the program.
TEST(Arbiter, MarksRaiseMoreThanTheOtherLookAtTheSameGpu) {
  const double by_telemetry =
      ruling_of({says(kKernels, 1, 0.8), says(kTelemetry, 1, 0.8)}).estimate->confidence;
  const double with_marks = ruling_of({says(kMarks, 1, 0.8), says(kKernels, 1, 0.8)}).estimate->confidence;
  EXPECT_GT(with_marks, by_telemetry);
}

TEST(Arbiter, MicroBatchesAreNoContradiction) {
  // One mark for 4 x (forward, backward) + optimizer; power shows the micro-batch.
  const Ruling ruling = ruling_of({says(kMarks, 2, 0.95), says(kTelemetry, 0.5, 0.9)});
  EXPECT_EQ(ruling.estimate->confidence, 0.95);
  EXPECT_TRUE(check_of(ruling, kTelemetry).agrees);
  EXPECT_NE(check_of(ruling, kTelemetry).why.find("4 of its periods"), std::string::npos);
}

TEST(Arbiter, SeveralMarksInAnIterationAreNoContradiction) {
  const Ruling ruling = ruling_of({says(kMarks, 0.5, 0.95), says(kKernels, 1.5, 0.9)});
  EXPECT_EQ(ruling.estimate->source, kMarks);
  EXPECT_NEAR(*check_of(ruling, kKernels).ratio, 3, 1e-9);
  EXPECT_TRUE(check_of(ruling, kKernels).agrees);
}

TEST(Arbiter, AnotherPeriodLowersTheConfidenceAndIsSaid) {
  const Ruling ruling = ruling_of({says(kMarks, 1, 0.98), says(kTelemetry, 1.41, 0.9)});
  EXPECT_EQ(ruling.estimate->source, kMarks);
  EXPECT_LT(ruling.estimate->confidence, 0.9);
  EXPECT_GT(ruling.estimate->confidence, 0.5);
  EXPECT_FALSE(check_of(ruling, kTelemetry).agrees);
  EXPECT_NE(check_of(ruling, kTelemetry).why.find("1.41"), std::string::npos);
}

TEST(Arbiter, MarksAgainstWhichBothOthersAgreeAreNotUsed) {
  const Ruling ruling =
      ruling_of({says(kMarks, 1, 0.98), says(kKernels, 1.41, 0.97), says(kTelemetry, 1.41, 0.9)});
  EXPECT_EQ(ruling.estimate->source, kKernels);
  EXPECT_FALSE(check_of(ruling, kMarks).agrees);
  EXPECT_TRUE(check_of(ruling, kTelemetry).agrees);
  EXPECT_LT(ruling.estimate->confidence, 0.97);
}

TEST(Arbiter, ABeatSaysNothingOfTheLength) {
  IterationEstimate beat = says(kTelemetry, 3.33, 0.9);
  beat.relation = PeriodRelation::beat;
  const Ruling ruling = ruling_of({says(kKernels, 0.06, 0.9), beat});
  EXPECT_EQ(ruling.estimate->confidence, 0.9);
  EXPECT_TRUE(check_of(ruling, kTelemetry).agrees);
}

TEST(Arbiter, ALargeRatioCannotBeCompared) {
  // 60.5 is as near to a whole number as 2 % of it allow: nothing follows.
  const Ruling ruling = ruling_of({says(kMarks, 6.05, 0.9), says(kKernels, 0.1, 0.9)});
  EXPECT_EQ(ruling.estimate->confidence, 0.9);
  EXPECT_NE(check_of(ruling, kKernels).why.find("too many"), std::string::npos);
}

TEST(Arbiter, ASteadyLoadWithoutPeriodDoesNotContradictMarks) {
  const Ruling ruling = ruling_of({says(kMarks, 1, 0.95), aperiodic(kTelemetry, 0.95)});
  EXPECT_TRUE(ruling.estimate->periodic);
  EXPECT_EQ(ruling.estimate->confidence, 0.95);
  EXPECT_TRUE(check_of(ruling, kTelemetry).agrees);
}

TEST(Arbiter, AFoundPeriodIsUsedBeforeABetterSourcesWordThatThereIsNone) {
  // Kernels were recorded for 2 s; an iteration of 5 s cannot show in them.
  const Ruling ruling = ruling_of({aperiodic(kKernels, 0.9), says(kTelemetry, 5, 0.9)});
  EXPECT_EQ(ruling.estimate->source, kTelemetry);
  EXPECT_LT(ruling.estimate->confidence, 0.9);
  EXPECT_FALSE(check_of(ruling, kKernels).agrees);
}

TEST(Arbiter, TwoSourcesWithoutPeriodAgree) {
  const Ruling ruling = ruling_of({aperiodic(kKernels, 0.8), aperiodic(kTelemetry, 0.8)});
  EXPECT_FALSE(ruling.estimate->periodic);
  EXPECT_EQ(ruling.estimate->source, kKernels);
  EXPECT_GT(ruling.estimate->confidence, 0.8);
}

// A program that marks its epochs only: 60 s apart, of 140 iterations of 0.41 s and an evaluation.
TEST(Arbiter, MarksOfEpochsAreACheckAndNotTheAnswer) {
  const Ruling ruling = ruling_of({says(kMarks, 60, 0.98), says(kTelemetry, 0.41, 0.92)});
  EXPECT_EQ(ruling.estimate->source, kTelemetry);
  EXPECT_EQ(ruling.estimate->confidence, 0.92);
  EXPECT_TRUE(check_of(ruling, kMarks).agrees);
  EXPECT_NE(ruling.why.find("60 s"), std::string::npos);
}

TEST(Arbiter, EpochsThatHoldNoWholeNumberOfIterationsDoNotContradict) {
  const Ruling ruling = ruling_of({says(kMarks, 42.3, 0.98), says(kKernels, 5, 0.92)});
  EXPECT_EQ(ruling.estimate->source, kKernels);
  EXPECT_EQ(ruling.estimate->confidence, 0.92);
}

TEST(Arbiter, FarMarksAreUsedWhereNothingFinerIsKnown) {
  EXPECT_EQ(ruling_of({says(kMarks, 60, 0.98)}).estimate->source, kMarks);
  EXPECT_EQ(ruling_of({says(kMarks, 60, 0.98), says(kTelemetry, 0.4, 0.2)}).estimate->source, kMarks);
  EXPECT_EQ(ruling_of({says(kMarks, 60, 0.98), says(kTelemetry, 58, 0.9)}).estimate->source, kMarks);
}

TEST(Arbiter, MarksAroundThirtySecondsDoNotMakeItChangeItsMind) {
  Arbiter arbiter;
  arbiter.tell(says(kKernels, 0.4, 0.9));
  int changes = 0;
  std::optional<ProgressSource> before;
  for (int i = 0; i < 40; ++i) {
    arbiter.tell(says(kMarks, i % 2 == 0 ? 29 : 31, 0.95, 100 + i));
    const auto source = arbiter.rule(at(100 + i)).estimate->source;
    if (before && before != source) ++changes;
    before = source;
  }
  EXPECT_LE(changes, 1);
}

TEST(Arbiter, AConfidenceAroundTheFloorDoesNotMakeItChangeItsMind) {
  Arbiter arbiter;
  arbiter.tell(says(kTelemetry, 1, 0.9, 120));
  arbiter.tell(says(kKernels, 1, 0.6));
  for (int i = 0; i < 20; ++i) {
    arbiter.tell(says(kKernels, 1, i % 2 == 0 ? 0.45 : 0.55, 100 + i));
    EXPECT_EQ(arbiter.rule(at(100 + i)).estimate->source, kKernels);
  }
  arbiter.tell(says(kKernels, 1, 0.3, 130));
  EXPECT_EQ(arbiter.rule(at(130)).estimate->source, kTelemetry);
  arbiter.tell(says(kKernels, 1, 0.45, 131));
  EXPECT_EQ(arbiter.rule(at(131)).estimate->source, kTelemetry);
}

TEST(Arbiter, MarksThatStopForAWhileNoLongerCount) {
  // An evaluation without marks: the last one was 12 s ago, iterations take 1 s.
  EXPECT_EQ(ruling_of({says(kMarks, 1, 0.98), says(kTelemetry, 1.4, 0.9, 112)}, 109).estimate->source,
            kMarks);
  const Ruling later = ruling_of({says(kMarks, 1, 0.98), says(kTelemetry, 1.4, 0.9, 112)}, 112);
  EXPECT_EQ(later.estimate->source, kTelemetry);
  EXPECT_TRUE(later.checks.empty());
}

TEST(Arbiter, KernelsCountFromOneCycleToTheNext) {
  EXPECT_EQ(ruling_of({says(kKernels, 1, 0.9)}, 200).estimate->source, kKernels);
  EXPECT_FALSE(ruling_of({says(kKernels, 1, 0.9)}, 400).estimate);
}

TEST(Arbiter, ASilencedSourceIsForgotten) {
  Arbiter arbiter;
  arbiter.tell(says(kMarks, 1, 0.98));
  arbiter.silent(kMarks);
  EXPECT_FALSE(arbiter.rule(at(100)).estimate);
  EXPECT_FALSE(arbiter.latest(kMarks));
}

TEST(Arbiter, WhatIsNoEstimateIsLeftOut) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  IterationEstimate without_period = says(kMarks, 1, 0.9);
  without_period.period.reset();
  for (const auto& bad : {says(kMarks, kNan, 0.9), says(kMarks, 0, 0.9), says(kMarks, -1, 0.9),
                          says(kMarks, 1, kNan), says(kMarks, 1, 1.5), without_period})
    EXPECT_FALSE(ruling_of({bad}).estimate);
}

TEST(Arbiter, AnOlderWordDoesNotReplaceANewerOne) {
  EXPECT_EQ(ruling_of({says(kMarks, 1, 0.9, 100), says(kMarks, 2, 0.9, 90)}).estimate->period, Seconds(1));
}

}  // namespace
}  // namespace rubato::progress
