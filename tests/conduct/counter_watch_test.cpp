#include "conduct/counter_watch.h"

#include <gmock/gmock.h>

#include "device/sim/gpu_view.h"
#include "device/sim/world.h"
#include "feature/training_gpu.h"

namespace rubato::conduct {
namespace {

using testing::HasSubstr;

constexpr TimePoint kBegin{1'000'000'000'000};

class CounterWatchTest : public testing::Test {
 protected:
  /// Looks once a second until `until`, showing what NVML would show of a busy GPU.
  std::optional<record::FeatureWindow> look(CounterWatch& watch, Seconds from, Seconds until, bool may = true,
                                            std::optional<Seconds> period = std::nullopt) {
    for (Seconds at = from; at <= until; at += Seconds(0.5)) {
      watch.see(SlowReading{.at = kBegin + at, .sm_clock = Megahertz(690), .sm_utilisation = 0.8});
      if (auto window = watch.step(kBegin + at, {}, period, may)) return window;
    }
    return std::nullopt;
  }

  std::vector<std::string> profiles_{"v100"};
  std::shared_ptr<device::sim::SimWorld> world_ =
      std::move(*device::sim::SimWorld::create_private(profiles_, {}, kBegin));
  std::unique_ptr<device::Gpu> gpu_ = device::sim::make_gpu(world_, 0);
};

TEST_F(CounterWatchTest, NothingIsCountedBeforeItIsWanted) {
  CounterWatch watch(*gpu_, "utilisation");
  EXPECT_FALSE(look(watch, 0_s, 20_s));
  EXPECT_FALSE(watch.next_due());
}

TEST_F(CounterWatchTest, AWindowHoldsWholeIterationsAndTellsWhyItWasRead) {
  CounterWatch watch(*gpu_, "utilisation");
  watch.want("the iteration was found");
  const auto window = look(watch, 0_s, 20_s, true, 3_s);
  ASSERT_TRUE(window);
  EXPECT_EQ(window->provider, "utilisation");
  EXPECT_EQ(window->why, "the iteration was found");
  EXPECT_NEAR((window->features.end - window->features.begin).value(), 6, 1) << "two of 3 s";
  EXPECT_NEAR(window->features[Feature::sm_utilisation].value(), 0.8, 1e-9);
  EXPECT_FALSE(look(watch, 20_s, 40_s)) << "one window for one reason";
}

TEST_F(CounterWatchTest, NothingBeginsWhileTheJobTunes) {
  CounterWatch watch(*gpu_, "utilisation");
  watch.want("the iteration was found");
  EXPECT_FALSE(look(watch, 0_s, 20_s, false));
  EXPECT_TRUE(look(watch, 20_s, 30_s, true));
}

TEST_F(CounterWatchTest, AChangedSettingBeginsTheWindowAnew) {
  CounterWatch watch(*gpu_, "utilisation");
  watch.want("the iteration was found");
  EXPECT_FALSE(look(watch, 0_s, 3_s));
  watch.setting_changed();
  const auto window = look(watch, 4_s, 20_s);
  ASSERT_TRUE(window);
  EXPECT_GE(window->features.begin, kBegin + 3_s);
}

TEST_F(CounterWatchTest, AProviderThatIsNoneIsSaidOnceAndNeverAskedAgain) {
  CounterWatch watch(*gpu_, "abacus");
  watch.want("the iteration was found");
  EXPECT_FALSE(look(watch, 0_s, 10_s));
  const auto complaint = watch.take_complaint();
  ASSERT_TRUE(complaint);
  EXPECT_THAT(complaint->what, HasSubstr("abacus"));
  watch.want("the job changed");
  EXPECT_FALSE(look(watch, 10_s, 20_s));
  EXPECT_FALSE(watch.take_complaint());
}

/// Counters of a simulated GPU at work, which refuse where a test says so.
class RefusingCounters : public testing::Test {
 protected:
  /// Steps once a second; `seen` false: nothing but the counters tells of the GPU.
  std::optional<record::FeatureWindow> look(Seconds span, bool seen) {
    const TimePoint end = gpu_.now() + span;
    while (gpu_.now() < end) {
      gpu_.go_on(1_s);
      if (seen) watch_.see(gpu_.read_slow().value());
      if (auto window = watch_.step(gpu_.now(), {}, std::nullopt, true)) return window;
    }
    return std::nullopt;
  }
  static double length(const record::FeatureWindow& window) {
    return (window.features.end - window.features.begin).value();
  }

  feature::TrainingGpu gpu_{feature::Guise::simulated};
  CounterWatch watch_{gpu_, "simulated"};
};

TEST_F(RefusingCounters, AnEmptyWindowIsFollowedByALongerOne) {
  watch_.want("the iteration was found");
  EXPECT_FALSE(look(2_s, false));
  gpu_.refuse_counters(ErrorCode::unavailable);
  EXPECT_FALSE(look(3_s, false)) << "it ends after 5 s, and tells nothing";
  gpu_.refuse_counters(std::nullopt);
  const auto window = look(100_s, false);
  ASSERT_TRUE(window);
  EXPECT_NEAR(length(*window), 60, 2);
  EXPECT_EQ(window->why, "the iteration was found");
  EXPECT_FALSE(watch_.take_complaint());
}

// As CUPTI's did on an H200: the record had the utilisation alone, and nobody said why.
TEST_F(RefusingCounters, ARunThatEndsBeforeTheLongerWindowSaysThatNothingWasTold) {
  watch_.want("the iteration was found");
  EXPECT_FALSE(watch_.last_word());
  EXPECT_FALSE(look(2_s, true));
  gpu_.refuse_counters(ErrorCode::unavailable);
  EXPECT_TRUE(look(4_s, true)) << "utilisation stands in";
  ASSERT_TRUE(watch_.last_word());
  EXPECT_NE(watch_.last_word()->what.find("told nothing in the latest window, of"), std::string::npos);
  gpu_.refuse_counters(std::nullopt);
  EXPECT_TRUE(look(100_s, true));
  EXPECT_FALSE(watch_.last_word());
}

TEST_F(RefusingCounters, TwoEmptyWindowsEndTheCounting) {
  watch_.want("the iteration was found");
  EXPECT_FALSE(look(2_s, false));
  for (const Seconds span : {3_s, 2_s, 62_s}) {
    EXPECT_FALSE(watch_.take_complaint());
    gpu_.refuse_counters(span > 2_s ? std::optional(ErrorCode::unavailable) : std::nullopt);
    EXPECT_FALSE(look(span, false));
  }
  EXPECT_TRUE(watch_.take_complaint());
}

TEST_F(RefusingCounters, WhatWasSeenMeanwhileIsKeptAndTheCountersAreTriedOnceMore) {
  watch_.want("the iteration was found");
  EXPECT_FALSE(look(2_s, true));
  gpu_.refuse_counters(ErrorCode::unavailable);
  const auto seen = look(4_s, true);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->provider, "utilisation");
  EXPECT_TRUE(seen->features[Feature::sm_utilisation]);
  gpu_.refuse_counters(std::nullopt);
  const auto counted = look(100_s, true);
  ASSERT_TRUE(counted);
  EXPECT_EQ(counted->provider, "simulated");
  EXPECT_NEAR(length(*counted), 60, 2);
  EXPECT_FALSE(look(100_s, true)) << "both for one reason";
}

TEST_F(RefusingCounters, BusyOnesAreAskedLater) {
  watch_.want("the iteration was found");
  gpu_.refuse_counters(ErrorCode::busy);
  EXPECT_FALSE(look(30_s, false));
  EXPECT_FALSE(watch_.take_complaint());
  gpu_.refuse_counters(std::nullopt);
  EXPECT_FALSE(look(20_s, false)) << "not yet";
  EXPECT_TRUE(look(30_s, false));
}

TEST_F(RefusingCounters, ThatStayBusyAreGivenUp) {
  watch_.want("the iteration was found");
  gpu_.refuse_counters(ErrorCode::busy);
  EXPECT_FALSE(look(100_s, false));
  const auto complaint = watch_.take_complaint();
  ASSERT_TRUE(complaint);
  EXPECT_EQ(complaint->code, ErrorCode::busy);
}

}  // namespace
}  // namespace rubato::conduct
