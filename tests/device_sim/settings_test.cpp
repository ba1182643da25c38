#include <gmock/gmock.h>

#include "device_sim/sim_fixture.h"

namespace rubato::device::sim {
namespace {

using testing::HasSubstr;

TEST(SimulatedSettings, ALimitOutsideTheRangeIsRefusedWithTheRange) {
  Bench bench;
  const Status s = bench.world->set_power_limit(0, 90_W, bench.now);
  ASSERT_FALSE(s);
  EXPECT_EQ(s.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(s.error().what, HasSubstr("from 100 W to 250 W, not 90 W"));
  EXPECT_EQ(bench.truth().requested_limit, 250_W);
}

TEST(SimulatedSettings, AClockItDoesNotHaveIsRefusedWithTheNearest) {
  Bench bench("a100");
  const Status s = bench.world->lock_sm_clock(0, {210_MHz, 1000_MHz}, bench.now);
  ASSERT_FALSE(s);
  EXPECT_THAT(s.error().what, HasSubstr("1005 MHz"));
  EXPECT_FALSE(bench.truth().sm_lock);
}

TEST(SimulatedSettings, EveryClockOfTheTableCanBeLocked) {
  Bench bench;
  for (const Megahertz clock : bench.world->profile(0).sm_clocks)
    EXPECT_TRUE(bench.world->lock_sm_clock(0, {clock, clock}, bench.now)) << clock.value();
  EXPECT_EQ(bench.world->profile(0).sm_clocks.size(), 167U);
  ASSERT_TRUE(bench.world->reset_sm_clock(0, bench.now));
  EXPECT_FALSE(bench.truth().sm_lock);
}

TEST(SimulatedSettings, HbmBoardsRefuseMemoryLocks) {
  Bench bench("a100");
  EXPECT_EQ(bench.world->lock_memory_clock(0, {1512_MHz, 1512_MHz}, bench.now).error().code,
            ErrorCode::not_supported);
}

TEST(SimulatedSettings, ADriverReloadForgetsSettingsAndCounter) {
  Bench bench;
  ASSERT_TRUE(bench.world->set_power_limit(0, 150_W, bench.now));
  ASSERT_TRUE(bench.world->lock_sm_clock(0, {952_MHz, 952_MHz}, bench.now));
  bench.run(10_s);
  ASSERT_GT(*bench.read().energy_counter, 300_J);
  ASSERT_TRUE(bench.world->driver_reload(bench.now));
  EXPECT_EQ(bench.truth().requested_limit, 250_W);
  EXPECT_FALSE(bench.truth().sm_lock);
  EXPECT_EQ(*bench.read().energy_counter, 0_J);
  EXPECT_EQ(bench.truth().driver_generation, 1U);
}

TEST(SimulatedSettings, TheLimiterSaysWhoHoldsTheClock) {
  Bench bench;
  bench.load(compute_heavy());
  bench.run(1_s);
  EXPECT_EQ(bench.read().limiter, LimiterReasons{});
  ASSERT_TRUE(bench.world->lock_sm_clock(0, {952_MHz, 952_MHz}, bench.now));
  bench.run(5_s);
  EXPECT_TRUE(bench.read().limiter.user_clocks);
  EXPECT_FALSE(bench.read().limiter.power_cap);
  ASSERT_TRUE(bench.world->set_power_limit(0, 100_W, bench.now));
  bench.run(10_s);
  EXPECT_TRUE(bench.read().limiter.power_cap);
  EXPECT_GT(bench.read().power_violation, 5_s);
}

TEST(SimulatedSettings, UnknownProfilesAndWorkloadsListTheKnownOnes) {
  EXPECT_THAT(find_profile("h9000").error().what, HasSubstr("v100-pcie-16gb (v100)"));
  EXPECT_THAT(find_workload("resnet51").error().what, HasSubstr("resnet50"));
}

}  // namespace
}  // namespace rubato::device::sim
