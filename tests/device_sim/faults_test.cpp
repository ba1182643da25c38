#include <gmock/gmock.h>

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
  EXPECT_FALSE(parse_scenario("{"));
}

}  // namespace
}  // namespace rubato::device::sim
