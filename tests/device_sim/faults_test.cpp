#include <gmock/gmock.h>

#include "device/sim/gpu_view.h"
#include "device_sim/sim_fixture.h"

namespace rubato::device::sim {
namespace {

using testing::HasSubstr;

Bench with(const char* scenario) {
  return Bench("v100", parse_scenario(scenario).value());
}

TEST(SimulatedFaults, AFaultHitsAfterSoManyCallsAndSoManyTimes) {
  Bench bench = with(R"({"faults":[{"call":"set_power_limit","after":1,"count":2,"effect":"error",
                                    "error":"device_lost"}]})");
  const auto set = [&] { return bench.world->set_power_limit(0, 200_W, bench.now); };
  EXPECT_TRUE(set());
  EXPECT_EQ(set().error().code, ErrorCode::device_lost);
  EXPECT_EQ(set().error().code, ErrorCode::device_lost);
  EXPECT_TRUE(set());
}

TEST(SimulatedFaults, ALyingCallSucceedsAndChangesNothing) {
  Bench bench = with(
      R"({"faults":[{"call":"set_power_limit","effect":"lie"},{"call":"lock_sm_clock","effect":"lie"}]})");
  EXPECT_TRUE(bench.world->set_power_limit(0, 200_W, bench.now));
  EXPECT_TRUE(bench.world->lock_sm_clock(0, {952_MHz, 952_MHz}, bench.now));
  EXPECT_EQ(bench.truth().requested_limit, 250_W);
  EXPECT_FALSE(bench.truth().sm_lock);
  EXPECT_EQ(bench.truth().writes, 0U);
}

TEST(SimulatedFaults, AClampEndsElsewhere) {
  Bench bench = with(R"({"faults":[{"call":"set_power_limit","effect":"clamp","to_w":180}]})");
  EXPECT_TRUE(bench.world->set_power_limit(0, 150_W, bench.now));
  EXPECT_EQ(bench.truth().requested_limit, 180_W);
}

TEST(SimulatedFaults, SomebodyElseCanChangeTheLimitAtAChosenCall) {
  Bench bench = with(R"({"faults":[{"call":"read_power","after":1,"effect":"foreign_limit","to_w":170}]})");
  EXPECT_EQ(bench.read().limits.requested, 250_W);
  EXPECT_EQ(bench.read().limits.requested, 170_W);
}

TEST(SimulatedFaults, InVirtualTimeAHangingCallTimesOut) {
  Bench bench = with(R"({"faults":[{"call":"read_power","effect":"hang"}]})");
  EXPECT_EQ(bench.world->read(CallId::read_power, 0, bench.now).error().code, ErrorCode::timeout);
}

TEST(SimulatedFaults, AFaultOfAnotherRoleDoesNotConcernThisProcess) {
  Bench bench = with(R"({"faults":[{"effect":"error","role":"guard"}]})");
  EXPECT_TRUE(bench.world->read(CallId::read_power, 0, bench.now));
}

TEST(SimulatedFaults, AGpuThatFellOffTheBusNeverAnswersAgain) {
  Bench bench = with(R"({"faults":[{"effect":"gpu_lost","at_s":2}]})");
  bench.load(compute_heavy());
  bench.now = bench.now + 1_s;
  EXPECT_TRUE(bench.world->read(CallId::read_power, 0, bench.now));
  bench.now = bench.now + 2_s;
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(bench.world->read(CallId::read_clocks, 0, bench.now).error().code, ErrorCode::device_lost);
  EXPECT_EQ(bench.world->set_power_limit(0, 200_W, bench.now).error().code, ErrorCode::device_lost);
  EXPECT_EQ(bench.world->begin_call(CallId::read_supported_clocks, 0, bench.now).error().code,
            ErrorCode::device_lost);
  EXPECT_TRUE(bench.world->begin_call(CallId::open, 0, bench.now));
  EXPECT_FALSE(bench.world->submit(0, bench.context, 1.0, bench.now));
}

TEST(SimulatedFaults, AFaultCanConcernOneGpuOfSeveral) {
  const std::vector<std::string> two{"v100", "v100"};
  const auto world =
      *SimWorld::create_private(two, parse_scenario(R"({"faults":[{"effect":"gpu_lost","gpu":1}]})").value());
  EXPECT_FALSE(world->read(CallId::read_power, 1, {}));
  EXPECT_TRUE(world->read(CallId::read_power, 0, {}));
}

TEST(SimulatedFaults, AResetBySomebodyElseTakesSettingsCounterAndContexts) {
  Bench bench = with(R"({"faults":[{"call":"read_power","at_s":10,"effect":"gpu_reset"}]})");
  bench.load(compute_heavy());
  ASSERT_TRUE(bench.world->set_power_limit(0, 150_W, bench.now));
  bench.run(11_s);
  EXPECT_EQ(bench.read().limits.requested, 250_W);
  EXPECT_EQ(*bench.read().energy_counter, 0_J);
  EXPECT_EQ(bench.world->progress(0, bench.context, bench.now).error().code, ErrorCode::not_found);
}

TEST(SimulatedFaults, SomebodyElseCanLockAndUnlockTheSmClock) {
  Bench bench = with(R"({"faults":[{"call":"read_power","effect":"foreign_sm_clock","to_mhz":[135,1200]},
                                   {"call":"read_clocks","effect":"foreign_sm_clock"}]})");
  static_cast<void>(bench.read());
  EXPECT_EQ(bench.truth().sm_lock, (ClockRange{135_MHz, 1200_MHz}));
  static_cast<void>(bench.world->read(CallId::read_clocks, 0, bench.now));
  EXPECT_FALSE(bench.truth().sm_lock);
  EXPECT_EQ(bench.truth().writes, 0U);
}

TEST(SimulatedFaults, AStaleSensorStandsStillForItsTimeAndThenCatchesUp) {
  Bench bench = with(R"({"faults":[{"call":"read_power","at_s":5,"effect":"stale_sensor","for_s":3}]})");
  bench.run(5_s);
  const Readout before = bench.read();
  bench.load(compute_heavy());
  bench.run(2_s);
  EXPECT_EQ(bench.read().power_instant, before.power_instant);
  EXPECT_EQ(bench.read().power_updated, before.power_updated);
  EXPECT_EQ(bench.read().energy_counter, before.energy_counter);
  bench.run(2_s);
  EXPECT_GT(bench.read().power_instant, before.power_instant + 100_W);
  EXPECT_GT(*bench.read().energy_counter, *before.energy_counter + 500_J);
}

TEST(SimulatedFaults, TheCounterCanBeginAnewWithNothingElseChanged) {
  Bench bench = with(R"({"faults":[{"call":"read_power","at_s":5,"effect":"counter_reset"}]})");
  ASSERT_TRUE(bench.world->set_power_limit(0, 150_W, bench.now));
  bench.run(6_s);
  EXPECT_EQ(*bench.read().energy_counter, 0_J);
  EXPECT_EQ(bench.read().limits.requested, 150_W);
  EXPECT_EQ(bench.truth().driver_generation, 0U);
}

TEST(SimulatedFaults, AnAbsurdReadingIsOneReading) {
  Bench bench = with(R"({"faults":[{"call":"read_power","effect":"absurd_reading","to_w":-7},
    {"call":"read_energy_counter","effect":"absurd_reading","jump_j":1e9,"count":"always"}]})");
  EXPECT_EQ(bench.read().power_instant, Watts(-7));
  EXPECT_GT(bench.read().power_instant, 30_W);
  for (int i = 0; i < 3; ++i)
    EXPECT_GE(*bench.world->read(CallId::read_energy_counter, 0, bench.now)->energy_counter, Joules(1e9));
}

TEST(SimulatedFaults, ABrakeFromOutsideHalvesTheClockForItsTime) {
  Bench bench = with(R"({"faults":[{"call":"read_power","at_s":2,"effect":"power_brake","for_s":3}]})");
  bench.load(compute_heavy());
  bench.run(2_s);
  static_cast<void>(bench.read());
  bench.run(1_s);
  EXPECT_LE(bench.truth().sm_clock, 690_MHz);
  EXPECT_TRUE(bench.read().limiter.hardware);
  bench.run(3_s);
  EXPECT_EQ(bench.truth().sm_clock, 1380_MHz);
  EXPECT_NEAR(bench.read().power_brake_violation.value(), 3.0, 0.01);
}

TEST(SimulatedRights, WhoMayNotSetIsToldWhy) {
  Bench bench = with(R"({"rights":"none"})");
  const Status s = bench.world->set_power_limit(0, 200_W, bench.now);
  EXPECT_EQ(s.error().code, ErrorCode::no_permission);
  EXPECT_THAT(s.error().what, HasSubstr("lets nobody set"));
  EXPECT_EQ(bench.truth().requested_limit, 250_W);
}

TEST(SimulatedScenario, StartsWithWhatWasFound) {
  Bench bench = with(R"({"found":{"power_limit_w":200},"temperature_c":60})");
  EXPECT_EQ(bench.truth().requested_limit, 200_W);
  EXPECT_NEAR(bench.truth().temperature.value(), 60.0, 0.1);
  EXPECT_FALSE(SimWorld::create_private(std::vector<std::string>{"v100"},
                                        parse_scenario(R"({"found":{"power_limit_w":300}})").value()));
}

TEST(SimulatedScenario, WithoutAnEnergyCounterThereIsNone) {
  Bench bench = with(R"({"energy_counter":false})");
  bench.run(1_s);
  EXPECT_FALSE(bench.read().energy_counter);
  EXPECT_GT(bench.read().power_instant, 30_W);
}

TEST(SimulatedScenario, WhatIsWrongInItIsNamed) {
  EXPECT_THAT(parse_scenario(R"({"right":"owner"})").error().what, HasSubstr("\"right\""));
  EXPECT_THAT(parse_scenario(R"({"rights":"root"})").error().what, HasSubstr("owner, cap_sys_admin, none"));
  EXPECT_THAT(parse_scenario(R"({"rate":0})").error().what, HasSubstr("rate"));
  EXPECT_THAT(parse_scenario(R"({"faults":[{"call":"read_pwr","effect":"lie"}]})").error().what,
              HasSubstr("read_pwr"));
  EXPECT_THAT(parse_scenario(R"({"faults":[{"call":"read_power","effect":"lie"}]})").error().what,
              HasSubstr("lie"));
  EXPECT_THAT(parse_scenario(R"({"faults":[{"effect":"stale_sensor"}]})").error().what, HasSubstr("for_s"));
  EXPECT_THAT(parse_scenario(R"({"faults":[{"effect":"absurd_reading","call":"read_clocks"}]})").error().what,
              HasSubstr("absurd"));
  EXPECT_THAT(parse_scenario(R"({"faults":[{"effect":"hang","count":-1}]})").error().what,
              HasSubstr("count"));
  EXPECT_THAT(parse_scenario(R"({"found":{"sm_clock_mhz":1200}})").error().what,
              HasSubstr("[lowest, highest]"));
  EXPECT_THAT(parse_scenario(R"({"ambient_c":1000})").error().what, HasSubstr("ambient_c"));
  EXPECT_FALSE(parse_scenario("{"));
}

TEST(SimulatedFaults, CountersRefusedAtOpeningAreAMissingRight) {
  Bench bench =
      with(R"({"faults":[{"call":"read_counters","count":9,"effect":"error","error":"no_permission"}]})");
  const auto gpu = make_gpu(std::move(bench.world), 0);
  EXPECT_TRUE(gpu->capabilities().read_counters.needs_right);
  EXPECT_THAT(gpu->capabilities().read_counters.why_not, HasSubstr("read_counters"));
  EXPECT_EQ(gpu->read_counters().error().code, ErrorCode::no_permission);
}

}  // namespace
}  // namespace rubato::device::sim
