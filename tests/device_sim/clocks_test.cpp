// What the clocks do by themselves: boost, heat, P-states, legal pairs, latency.
#include <gmock/gmock.h>

#include <ctime>
#include <set>

#include "device_sim/sim_fixture.h"

namespace rubato::device::sim {
namespace {

using testing::HasSubstr;

Scenario with(std::string_view json) {
  return parse_scenario(json).value();
}

Segment light() {
  return {
      .compute_s = 0.01, .memory_s = 0.01, .fixed_s = 0.1, .compute_activity = 0.3, .memory_activity = 0.3};
}

Megahertz clock_after_a_second_at(const char* temperature, bool locked) {
  Bench bench("rtx3090", with(temperature));
  if (locked) {
    EXPECT_TRUE(bench.world->lock_sm_clock(0, {2100_MHz, 2100_MHz}, bench.now));
  }
  bench.load(light());
  bench.run(1_s);
  return bench.truth().sm_clock;
}

TEST(SimulatedBoost, UnlockedItFallsWithTemperatureAndStaysBelowTheHighestClock) {
  const Megahertz cool = clock_after_a_second_at(R"({"temperature_c":30,"ambient_c":30})", false);
  const Megahertz warm = clock_after_a_second_at(R"({"temperature_c":70,"ambient_c":70})", false);
  EXPECT_EQ(cool, 1965_MHz);
  EXPECT_LT(warm, cool);
  EXPECT_GT(warm, cool - 100_MHz);
}

TEST(SimulatedBoost, ALockHoldsItsClockHotOrCool) {
  EXPECT_EQ(clock_after_a_second_at(R"({"temperature_c":30,"ambient_c":30})", true), 2100_MHz);
  EXPECT_EQ(clock_after_a_second_at(R"({"temperature_c":70,"ambient_c":70})", true), 2100_MHz);
}

TEST(SimulatedHeat, AboveTheSlowdownTemperatureClocksFallAndTheTimeIsCounted) {
  Bench bench("v100", with(R"({"ambient_c":60,"temperature_c":75})"));
  bench.load(compute_heavy());
  bench.run(300_s);
  const Readout hot = bench.read();
  EXPECT_LT(hot.sm_clock, 1380_MHz);
  EXPECT_TRUE(hot.limiter.thermal);
  EXPECT_FALSE(hot.limiter.power_cap);
  EXPECT_GT(hot.thermal_violation, 10_s);
  EXPECT_EQ(hot.hw_thermal_violation, Seconds(0));
  EXPECT_NEAR(hot.temperature.value(), 83.0, 3.0);
}

TEST(SimulatedHeat, WhereThatDoesNotHelpTheBoardHalvesItsClock) {
  Bench bench("v100", with(R"({"ambient_c":86,"temperature_c":88})"));
  bench.load(compute_heavy());
  bench.run(60_s);
  EXPECT_TRUE(bench.read().limiter.hardware);
  EXPECT_GT(bench.read().hw_thermal_violation, 1_s);
  EXPECT_LE(bench.truth().sm_clock, 690_MHz);
}

TEST(SimulatedHeat, AHotBoardThatRestsForADayIsCheap) {
  Bench bench("v100", with(R"({"ambient_c":86})"));
  const std::clock_t begin = std::clock();
  static_cast<void>(bench.world->truth(0, bench.now + 86400_s));
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 5.0);
}

TEST(SimulatedClocks, GeForceComputesBelowItsHighestMemoryClock) {
  Bench bench("rtx3080ti");
  bench.load(stream());
  bench.run(1_s);
  EXPECT_EQ(bench.read().memory_clock, 9251_MHz);
  EXPECT_EQ(bench.read().performance_state, 2U);
  ASSERT_TRUE(bench.world->lock_memory_clock(0, {9501_MHz, 9501_MHz}, bench.now));
  bench.run(1_s);
  EXPECT_EQ(bench.read().memory_clock, 9501_MHz);
  EXPECT_EQ(bench.read().performance_state, 0U);
}

TEST(SimulatedClocks, TheLowestMemoryClockHoldsTheSmClockDown) {
  Bench bench("rtx3080ti");
  const Profile& profile = bench.world->profile(0);
  EXPECT_EQ(profile.sm_clocks_at(405_MHz).back(), 420_MHz);
  EXPECT_EQ(profile.sm_clocks_at(9501_MHz), profile.sm_clocks);
  EXPECT_TRUE(profile.sm_clocks_at(1234_MHz).empty());
  ASSERT_TRUE(bench.world->lock_memory_clock(0, {405_MHz, 405_MHz}, bench.now));
  bench.load(stream());
  bench.run(1_s);
  EXPECT_EQ(bench.truth().sm_clock, 420_MHz);
}

TEST(SimulatedClocks, ApplicationClocksAreCheckedAsAPair) {
  Bench bench("k80");
  const Status refused =
      bench.world->set_application_clocks(0, {.memory = 324_MHz, .sm = 562_MHz}, bench.now);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().what, HasSubstr("up to 324 MHz"));
  EXPECT_EQ(bench.read().default_application_clocks, (ApplicationClocks{.memory = 2505_MHz, .sm = 562_MHz}));
  ASSERT_TRUE(bench.world->set_application_clocks(0, {.memory = 2505_MHz, .sm = 705_MHz}, bench.now));
  bench.load(stream());
  bench.run(2_s);
  EXPECT_EQ(bench.truth().sm_clock, 705_MHz);
}

TEST(SimulatedClocks, WhatABoardCannotSetIsRefusedAndListedAsSuch) {
  Bench old("k80");
  EXPECT_EQ(old.world->lock_sm_clock(0, {562_MHz, 562_MHz}, old.now).error().code, ErrorCode::not_supported);
  Bench laptop("rtx2000m");
  EXPECT_EQ(laptop.world->set_power_limit(0, 50_W, laptop.now).error().code, ErrorCode::not_supported);
}

Seconds time_to_reach(Megahertz clock, std::uint64_t seed) {
  Bench bench("v100", Scenario{.seed = seed});
  bench.load(light());
  bench.run(2_s);
  EXPECT_TRUE(bench.world->lock_sm_clock(0, {clock, clock}, bench.now));
  const TimePoint asked = bench.now;
  while (bench.truth().sm_clock != clock && bench.now - asked < 2_s) bench.run(5_ms);
  return bench.now - asked;
}

TEST(SimulatedClocks, AChangeTakesAsLongAsItsTargetAsksForAndNowAndThenMuchLonger) {
  std::set<double> of_targets;
  for (const int clock : {900, 952, 1005, 1102, 1207})
    of_targets.insert(time_to_reach(Megahertz(clock), 1).value());
  EXPECT_GT(of_targets.size(), 2U);
  int outliers = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed)
    if (time_to_reach(952_MHz, seed) > 200_ms) ++outliers;
  EXPECT_GT(outliers, 0);
  EXPECT_LT(outliers, 20);  // two in a hundred
}

TEST(SimulatedClocks, ALockThatWasFoundIsInForceFromTheStart) {
  Bench bench("v100", with(R"({"found":{"sm_clock_mhz":[135,1200]}})"));
  bench.load(light());
  bench.run(1_s);
  EXPECT_EQ(bench.truth().sm_clock, 1200_MHz);
  EXPECT_EQ(bench.truth().sm_lock, (ClockRange{135_MHz, 1200_MHz}));
  EXPECT_TRUE(bench.read().limiter.user_clocks);
  EXPECT_EQ(bench.truth().writes, 0U);
}

TEST(SimulatedClocks, MemoryAndApplicationClocksCanBeFoundToo) {
  Bench memory("rtx3080ti", with(R"({"found":{"memory_clock_mhz":[5001,5001]}})"));
  memory.load(light());
  memory.run(1_s);
  EXPECT_EQ(memory.truth().memory_clock, 5001_MHz);
  Bench application("k80", with(R"({"found":{"application_clocks_mhz":{"memory":2505,"sm":705}}})"));
  EXPECT_EQ(application.read().application_clocks, (ApplicationClocks{.memory = 2505_MHz, .sm = 705_MHz}));
}

TEST(SimulatedClocks, AChangeTakesTheSameToOneTargetWhereverOnTheControlLoopsGridItWasAskedFor) {
  Bench bench("rtxa4000");
  bench.load(light());
  std::vector<double> delays;
  for (const Seconds phase : {0_s, 0.0013_s, 0.0029_s, 0.0041_s}) {
    ASSERT_TRUE(bench.world->lock_sm_clock(0, {1200_MHz, 1200_MHz}, bench.now));
    bench.run(1_s + phase);
    const TimePoint asked = bench.now;
    ASSERT_TRUE(bench.world->lock_sm_clock(0, {1500_MHz, 1500_MHz}, asked));
    while (bench.truth().sm_clock == 1200_MHz && bench.now - asked < 1_s) bench.run(0.0001_s);
    EXPECT_EQ(bench.truth().sm_clock, 1500_MHz);
    delays.push_back((bench.now - asked).value());
    bench.run(1_s - phase);
  }
  const auto& latency = bench.world->profile(0).clock_latency;
  EXPECT_NEAR(delays.front(), latency.typical.value(), latency.typical.value() * latency.spread + 0.0001);
  for (const double delay : delays) EXPECT_NEAR(delay, delays.front(), 0.00011);
}

}  // namespace
}  // namespace rubato::device::sim
