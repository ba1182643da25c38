#include "cli/wanted.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <limits>

#include "device/sim/gpu_view.h"

namespace rubato::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::unique_ptr<device::Gpu>> gpus(const std::vector<std::string>& profiles,
                                               const device::sim::Scenario& scenario = {}) {
  const std::shared_ptr<device::sim::SimWorld> world =
      device::sim::SimWorld::create_private(profiles, scenario).value();
  std::vector<std::unique_ptr<device::Gpu>> made;
  for (unsigned i = 0; i < world->gpu_count(); ++i) made.push_back(device::sim::make_gpu(world, i));
  return made;
}

TEST(Wanted, HoldsWhatWasTypedAndNothingElse) {
  const Wanted wanted = parse_wanted({.power_limit_w = 150.0, .sm_clock_mhz = 1005.0}).value();
  EXPECT_EQ(wanted.setting, (Setting{.power_limit = 150_W, .sm_clock = ClockRange{1005_MHz, 1005_MHz}}));
  EXPECT_THAT(wanted.knobs, ElementsAre(Knob::power_limit, Knob::sm_clock));
  EXPECT_FALSE(wanted.found_sm_clock);
  EXPECT_TRUE(parse_wanted({})->setting.empty());
}

TEST(Wanted, NumbersThatAreNoneAreRefusedWithTheOption) {
  for (const double bad :
       {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    EXPECT_THAT(parse_wanted({.power_limit_w = bad}).error().what, HasSubstr("--power-limit"));
    EXPECT_THAT(parse_wanted({.memory_clock_mhz = bad}).error().what, HasSubstr("--memory-clock"));
  }
}

TEST(Wanted, ALockInForceIsARangeOfClocks) {
  EXPECT_EQ(parse_wanted({.found_sm_clock = "210:1005"})->found_sm_clock, (ClockRange{210_MHz, 1005_MHz}));
  for (const std::string bad : {"1005:210", "0:1005", "a:b", "1:2:3", ":", "210:", "nan:nan", "210:inf"})
    EXPECT_FALSE(parse_wanted({.found_sm_clock = bad})) << bad;
}

TEST(Wanted, ThatNothingIsLockedIsAStatementToo) {
  const Wanted unlocked = parse_wanted({.found_sm_clock = "none"}).value();
  EXPECT_TRUE(unlocked.found_clock_stated);
  EXPECT_FALSE(unlocked.found_sm_clock) << "put back by a reset, not by another lock";
  EXPECT_TRUE(parse_wanted({.found_sm_clock = "210:1005"})->found_clock_stated);
  EXPECT_FALSE(parse_wanted({})->found_clock_stated);
}

TEST(Wanted, ALimitMustSuitEveryGpu) {
  Wanted fits = parse_wanted({.power_limit_w = 140.0}).value();
  EXPECT_TRUE(fit_to_gpus(fits, gpus({"v100", "rtxa4000"})));
  Wanted too_high = parse_wanted({.power_limit_w = 250.0}).value();
  const Status refused = fit_to_gpus(too_high, gpus({"v100", "rtxa4000"}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(refused.error().what, HasSubstr("A4000"));
  EXPECT_THAT(refused.error().hint, HasSubstr("from 100 W to 140 W, which all of them take"));
  Wanted too_low = parse_wanted({.power_limit_w = 90.0}).value();
  EXPECT_THAT(fit_to_gpus(too_low, gpus({"rtxa4000", "h100"})).error().hint,
              HasSubstr("no limit suits all of these GPUs"));
}

TEST(Wanted, AClockTheGpuLacksBecomesTheNearestAndSaysSo) {
  Wanted wanted = parse_wanted({.sm_clock_mhz = 1004.0}).value();
  ASSERT_TRUE(fit_to_gpus(wanted, gpus({"v100"})));
  EXPECT_EQ(wanted.setting.sm_clock, (ClockRange{1005_MHz, 1005_MHz}));
  ASSERT_EQ(wanted.notes.size(), 1U);
  EXPECT_THAT(wanted.notes[0], HasSubstr("1005"));

  Wanted exact = parse_wanted({.sm_clock_mhz = 1005.0}).value();
  ASSERT_TRUE(fit_to_gpus(exact, gpus({"v100"})));
  EXPECT_THAT(exact.notes, IsEmpty());
}

TEST(Wanted, AClockOutsideTheTableIsRefusedWithItsRange) {
  Wanted wanted = parse_wanted({.sm_clock_mhz = 5000.0}).value();
  const Status refused = fit_to_gpus(wanted, gpus({"v100"}));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().what, HasSubstr("1380"));
}

TEST(Wanted, AClockIsOneThatEveryGpuHas) {
  Wanted wanted = parse_wanted({.sm_clock_mhz = 1004.0}).value();
  const auto different = gpus({"v100", "rtxa4000"});
  const Status fits = fit_to_gpus(wanted, different);
  ASSERT_TRUE(fits) << fits.error().what;
  for (const auto& gpu : different) {
    const auto clocks = gpu->supported_clocks()->sm;
    EXPECT_NE(std::find(clocks.begin(), clocks.end(), wanted.setting.sm_clock->min), clocks.end())
        << gpu->identity().name << " has no " << wanted.setting.sm_clock->min.value();
  }
}

TEST(Wanted, AKnobThatAGpuLacksIsRefusedAndNoRightIsAskedFor) {
  Wanted wanted = parse_wanted({.memory_clock_mhz = 877.0}).value();
  const Status refused = fit_to_gpus(wanted, gpus({"v100"}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::not_supported);
  EXPECT_THAT(refused.error().what, HasSubstr("memory clock"));
  Wanted forbidden = parse_wanted({.power_limit_w = 150.0}).value();
  EXPECT_TRUE(fit_to_gpus(forbidden, gpus({"v100"}, {.rights = device::sim::Rights::none})))
      << "a right can be had";
}

TEST(Wanted, ASlowdownIsAShareOfTheRun) {
  EXPECT_EQ(parse_max_slowdown("5%").value(), 0.05);
  EXPECT_EQ(parse_max_slowdown("0.05").value(), 0.05);
  EXPECT_FALSE(parse_max_slowdown("").value().has_value());
  for (const std::string none : {"0", "0%", "0.0"}) EXPECT_EQ(parse_max_slowdown(none).value(), 0) << none;
  for (const std::string bad : {"-5%", "five", "101%", "1.5", "%", "5%%", "nan"})
    EXPECT_FALSE(parse_max_slowdown(bad)) << bad;
  EXPECT_EQ(parse_max_slowdown("100%").value(), 1);
  for (const std::string either : {"1", "1.0"}) {
    const auto refused = parse_max_slowdown(either);
    ASSERT_FALSE(refused) << either;
    EXPECT_THAT(refused.error().what, HasSubstr("1 % or 100 %"));
  }
}

TEST(Wanted, OnlyKnobsThatAreChosenForAJobAreOffered) {
  EXPECT_EQ(parse_tunable_knob("sm-clock").value(), Knob::sm_clock);
  for (const std::string bad : {"fan", "application-clocks", ""}) {
    const auto refused = parse_tunable_knob(bad);
    ASSERT_FALSE(refused) << bad;
    EXPECT_EQ(refused.error().hint, "any of --knobs power-limit,sm-clock,memory-clock");
  }
}

TEST(Wanted, AMissingRightIsToldBeforeTheJobStarts) {
  const Wanted wanted = parse_wanted({.power_limit_w = 150.0}).value();
  EXPECT_FALSE(missing_right(wanted, gpus({"v100"})));
  const auto missing = missing_right(wanted, gpus({"v100"}, {.rights = device::sim::Rights::none}));
  ASSERT_TRUE(missing);
  EXPECT_EQ(missing->code, ErrorCode::no_permission);
  EXPECT_THAT(missing->what, HasSubstr("power limit"));
  EXPECT_FALSE(missing_right({}, gpus({"v100"}, {.rights = device::sim::Rights::none})));
}

}  // namespace
}  // namespace rubato::cli
