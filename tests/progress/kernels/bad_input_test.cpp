#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "progress/kernel_sequence.h"
#include "progress/kernels/algebra.h"

namespace rubato::progress::kernels {
namespace {

TEST(KernelSequenceBadInput, RecordsBackwardInTimeAreDroppedAndCounted) {
  Teller t;
  t.play(times(kTen, 20));
  KernelRecord old;
  old.begin = TimePoint{1};
  old.end = TimePoint{2};
  for (int i = 0; i < 5; ++i) t.sequence.add(old);
  t.play(times(kTen, 20));
  EXPECT_EQ(t.sequence.dropped(), 5U);
  EXPECT_EQ(t.launches(), 10U);
}

TEST(KernelSequenceBadInput, OneRecordFromTheFutureDoesNotSilenceTheStream) {
  Teller t;
  t.play(times(kTen, 20));
  KernelRecord wrong;
  wrong.begin = TimePoint{INT64_MAX / 2};
  wrong.end = wrong.begin;
  t.sequence.add(wrong);
  t.play(times(kTen, 60));
  EXPECT_EQ(t.launches(), 10U);
  EXPECT_LT(t.sequence.dropped(), 100U);
  EXPECT_GT(t.sequence.take_iterations().size(), 60U);
}

TEST(KernelSequenceBadInput, RecordsThatEndBeforeTheyBeginAreDropped) {
  Teller t;
  KernelRecord wrong;
  wrong.begin = TimePoint{2'000'000'000};
  wrong.end = TimePoint{1};
  t.sequence.add(wrong);
  EXPECT_EQ(t.sequence.dropped(), 1U);
}

TEST(KernelSequenceBadInput, RecordsOfASecondDeviceAreDropped) {
  Teller t;
  t.next.device_uuid[0] = 1;
  t.play(times(kTen, 20));
  t.next.device_uuid[0] = 2;
  t.play("zzzz");
  EXPECT_EQ(t.sequence.dropped(), 4U);
  t.next.device_uuid[0] = 0;  // unknown: taken as of this one
  t.play(kTen);
  EXPECT_EQ(t.sequence.dropped(), 4U);
}

TEST(KernelSequenceBadInput, KernelsWithoutDurationAreKernels) {
  Teller t;
  for (int i = 0; i < 60; ++i)
    for (const char c : kTen) {
      KernelRecord r;
      r.begin = r.end = t.now;
      r.name_hash = static_cast<unsigned char>(c);
      t.sequence.add(r);
      t.pause(0.001);
    }
  EXPECT_EQ(t.launches(), 10U);
}

TEST(KernelSequenceBadInput, RecordsThatAllBeginAtOnceGiveNoPeriod) {
  Teller t;
  for (int i = 0; i < 60; ++i)
    for (const char c : kTen) {
      KernelRecord r;
      r.begin = r.end = t.now;
      r.name_hash = static_cast<unsigned char>(c);
      t.sequence.add(r);
    }
  const auto e = t.estimate();
  EXPECT_TRUE(!e || !e->period);
  EXPECT_TRUE(t.sequence.take_iterations().empty());
  EXPECT_FALSE(t.sequence.rate());
}

TEST(KernelSequenceBadInput, CyclesWithoutRecordsChangeNothing) {
  Teller t;
  for (int i = 0; i < 5; ++i) t.sequence.cycle_ended(t.now, t.next.pid);
  EXPECT_FALSE(t.estimate());
  t.play(times(kTen, 40));
  EXPECT_EQ(t.launches(), 10U);
}

TEST(KernelSequenceBadInput, MoreNamesAndStreamsThanFitAreSurvived) {
  KernelSequence sequence;
  for (std::uint64_t i = 0; i < 200'000; ++i) {
    KernelRecord r;
    r.begin = TimePoint{static_cast<std::int64_t>(i) * 1'000};
    r.end = r.begin + Seconds(1e-7);
    r.name_hash = i * 0x9e3779b97f4a7c15ULL;
    r.stream = static_cast<std::uint32_t>(i % 1'000);
    r.pid = static_cast<std::int32_t>(i % 3);
    sequence.add(r);
  }
  EXPECT_GT(sequence.dropped(), 0U);
  const auto e = sequence.estimate();
  EXPECT_TRUE(!e || !e->periodic || e->confidence < 0.9);
}

RC_GTEST_PROP(KernelSequenceProperty, WhateverComesIterationsGoForwardAndConfidenceIsAChance, ()) {
  KernelSequence sequence;
  const auto size = *rc::gen::inRange(0, 400);
  std::int64_t now = 1'000'000;
  TimePoint last{INT64_MIN};
  std::int64_t index = -1;
  for (int i = 0; i < size; ++i) {
    KernelRecord r;
    now += *rc::gen::inRange(-200, 2'000);
    r.begin = TimePoint{now};
    r.end = TimePoint{now + *rc::gen::inRange(-10, 1'000)};
    r.name_hash = *rc::gen::inRange<std::uint64_t>(0, 4);
    r.graph = *rc::gen::inRange<std::uint32_t>(0, 2);
    r.stream = *rc::gen::inRange<std::uint32_t>(0, 2);
    r.pid = *rc::gen::inRange(0, 2);
    r.lost_before = *rc::gen::inRange<std::uint64_t>(0, 20) == 0 ? 100U : 0U;
    sequence.add(r);
    if (i % 97 == 0) sequence.cycle_ended(TimePoint{now}, i % 2);
    for (const Iteration& one : sequence.take_iterations()) {
      RC_ASSERT(one.begin >= last);
      RC_ASSERT(one.end > one.begin);
      RC_ASSERT(one.index > index);
      last = one.end;
      index = one.index;
    }
  }
  if (const auto e = sequence.estimate()) {
    RC_ASSERT(e->confidence >= 0);
    RC_ASSERT(e->confidence <= 1);
    RC_ASSERT(e->periodic == e->period.has_value());
  }
}

}  // namespace
}  // namespace rubato::progress::kernels
