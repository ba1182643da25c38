#include <gmock/gmock.h>

#include <vector>

#include "base/random.h"
#include "progress/tuning.h"

namespace rubato::progress {
namespace {

using testing::HasSubstr;

// A job on a clock of its own: iterations of stated lengths, with or without their kernels.
struct Story {
  TuningWatch watch;
  TimePoint now{1'000'000'000};

  void iteration(double seconds, const std::vector<std::uint64_t>& names = {}) {
    const TimePoint begin = now;
    for (std::size_t i = 0; i < names.size(); ++i) {
      KernelRecord r;
      r.begin = begin + Seconds(seconds * static_cast<double>(i) / static_cast<double>(names.size()));
      r.end = r.begin + Seconds(1e-5);
      r.name_hash = names[i];
      watch.kernel(r);
    }
    now = now + Seconds(seconds);
    watch.iteration({.begin = begin, .end = now});
  }
  void iterations(std::size_t count, double seconds, const std::vector<std::uint64_t>& names = {}) {
    for (std::size_t i = 0; i < count; ++i) iteration(seconds, names);
  }
  [[nodiscard]] bool tuning() const { return watch.state().tuning; }
};

TEST(TuningWatch, IsTuningUntilTheContraryHasBeenSeen) {
  const TuningWatch watch;
  EXPECT_TRUE(watch.state().tuning);
  EXPECT_FALSE(watch.state().since);
}

TEST(TuningWatch, LongFirstIterationsAreTuningAndFiveAlikeEndIt) {
  Story s;
  s.iteration(5);
  s.iteration(2);
  s.iteration(1.5);
  EXPECT_TRUE(s.tuning());
  s.iterations(4, 1);
  EXPECT_FALSE(s.tuning()) << s.watch.state().why;  // 1.5 is the one that need not agree
  EXPECT_EQ(s.watch.state().since, s.now);
}

TEST(TuningWatch, SteadyIterationsWithNewKernelsInThemAreStillTuning) {
  Story s;
  for (std::uint64_t i = 0; i < 8; ++i) s.iteration(1, {1, 2, 100 + i});
  EXPECT_TRUE(s.tuning());
  EXPECT_THAT(s.watch.state().why, HasSubstr("never seen before"));
  s.iterations(5, 1, {1, 2});
  EXPECT_FALSE(s.tuning());
}

TEST(TuningWatch, NewKernelsInALongIterationAreTuningAgain) {
  Story s;
  s.iterations(6, 1, {1, 2});
  ASSERT_FALSE(s.tuning());
  const TimePoint begin = s.now;
  s.iteration(3, {1, 2, 50, 51, 52});
  EXPECT_TRUE(s.tuning());
  EXPECT_EQ(s.watch.state().since, begin);
  s.iterations(5, 1.2, {1, 50});
  EXPECT_FALSE(s.tuning());
}

TEST(TuningWatch, ALogLineIsNoTuning) {
  Story s;
  s.iterations(6, 1, {1, 2});
  s.iteration(1.02, {1, 2, 70});
  EXPECT_FALSE(s.tuning());
}

TEST(TuningWatch, WithKernelsALongIterationWithoutNewOnesIsAStall) {
  Story s;
  s.iterations(6, 1, {1, 2});
  s.iterations(4, 4, {1, 2});
  EXPECT_FALSE(s.tuning());
}

TEST(TuningWatch, WithoutKernelsOneLongIterationIsAStallAndTwoAreTuning) {
  Story s;
  s.iterations(6, 1);
  s.iteration(4);
  s.iterations(4, 1);
  EXPECT_FALSE(s.tuning());
  s.iteration(4);
  s.iteration(1);
  s.iteration(3);
  EXPECT_TRUE(s.tuning());
  s.iterations(5, 1.3);
  EXPECT_FALSE(s.tuning());
}

TEST(TuningWatch, AnotherSettingChangesTheDurationAndIsNoTuning) {
  Story s;
  s.iterations(6, 1);
  s.watch.setting_changed(s.now + Seconds(0.5));
  s.iteration(1.7);  // half under each
  s.iterations(10, 2);
  EXPECT_FALSE(s.tuning());
  s.iterations(2, 3.5);  // but this is, measured by what is usual now
  EXPECT_TRUE(s.tuning());
}

TEST(TuningWatch, ASettingChangedWhileTuningBeginsTheComparisonAnew) {
  Story s;
  s.iterations(4, 1);
  s.watch.setting_changed(s.now);
  s.iterations(4, 2);
  EXPECT_TRUE(s.tuning());
  s.iteration(2);
  EXPECT_FALSE(s.tuning());
}

TEST(TuningWatch, IterationsThatVaryByNatureSettleAndStaySettled) {
  Story s;
  Random random(3);
  for (int i = 0; i < 60; ++i) s.iteration(random.uniform(0.6, 1.4));
  ASSERT_FALSE(s.tuning()) << s.watch.state().why;
  for (int i = 0; i < 500; ++i) {
    s.iteration(random.uniform(0.6, 1.4));
    ASSERT_FALSE(s.tuning()) << i << ": " << s.watch.state().why;
  }
}

TEST(TuningWatch, NeverTakesMoreThanAHundredIterations) {
  Story s;
  double seconds = 100;
  int seen = 0;
  while (s.tuning() && seen < 200) {
    s.iteration(seconds *= 0.85, {static_cast<std::uint64_t>(seen) + 1});
    ++seen;
  }
  EXPECT_LE(seen, 100);
}

TEST(TuningWatch, KernelsAloneSettleWhenNoneIsNewForTenSeconds) {
  TuningWatch watch;
  KernelRecord r;
  for (int i = 0; i < 1'000; ++i) {
    r.begin = TimePoint{} + Seconds(0.02 * i);
    r.end = r.begin;
    r.name_hash = static_cast<std::uint64_t>(i < 400 ? i : i % 10) + 1;
    watch.kernel(r);
    EXPECT_EQ(watch.state().tuning, i < 899) << i;  // the last new one came at 7.98 s
  }
}

TEST(TuningWatch, ACycleWithoutNewKernelsSettles) {
  TuningWatch watch;
  for (int cycle = 0; cycle < 2; ++cycle) {
    EXPECT_TRUE(watch.state().tuning);
    for (int i = 0; i < 300; ++i) {
      KernelRecord r;
      r.begin = TimePoint{} + Seconds(10.0 * cycle + 0.001 * i);
      r.end = r.begin;
      r.name_hash = static_cast<std::uint64_t>(i % 7) + 1;
      watch.kernel(r);
    }
    watch.cycle_ended(TimePoint{} + Seconds(10.0 * cycle + 1));
  }
  EXPECT_FALSE(watch.state().tuning);
}

TEST(TuningWatch, WhereNothingIsToldAMinuteSettles) {
  TuningWatch watch;
  watch.pass(TimePoint{} + Seconds(100));
  watch.pass(TimePoint{} + Seconds(159));
  EXPECT_TRUE(watch.state().tuning);
  watch.pass(TimePoint{} + Seconds(160));
  EXPECT_FALSE(watch.state().tuning);
  EXPECT_THAT(watch.state().why, HasSubstr("neither"));
}

TEST(TuningWatch, NewKernelsWithoutEndSettleAfterFiveMinutes) {
  TuningWatch watch;
  for (int i = 0; i < 3'001; ++i) {
    KernelRecord r;
    r.begin = TimePoint{} + Seconds(0.1 * i);
    r.end = r.begin;
    r.name_hash = static_cast<std::uint64_t>(i) + 1;
    watch.kernel(r);
  }
  EXPECT_FALSE(watch.state().tuning);
  EXPECT_THAT(watch.state().why, HasSubstr("longest"));
}

TEST(TuningWatch, IterationsBackwardInTimeOrWithoutDurationAreLeftOut) {
  Story s;
  s.iterations(3, 1);
  for (int i = 0; i < 10; ++i) s.watch.iteration({.begin = s.now, .end = s.now});
  for (int i = 0; i < 10; ++i) s.watch.iteration({.begin = TimePoint{}, .end = TimePoint{1'000}});
  EXPECT_TRUE(s.tuning());
  s.iterations(2, 1);
  EXPECT_FALSE(s.tuning());
}

}  // namespace
}  // namespace rubato::progress
