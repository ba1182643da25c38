#include "conduct/counter_watch.h"

#include <gmock/gmock.h>

#include "device/sim/gpu_view.h"
#include "device/sim/world.h"

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

}  // namespace
}  // namespace rubato::conduct
