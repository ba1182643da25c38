#include "conduct/clock_gate.h"

#include <gmock/gmock.h>

#include "govern/whole_run_strategy.h"

namespace rubato::conduct {
namespace {

using testing::HasSubstr;

constexpr TimePoint kBegin{1'000'000'000'000};

govern::Observation observation(double seconds, Megahertz sm_clock, bool loaded = true) {
  govern::Observation o;
  o.now = kBegin + Seconds(seconds);
  o.run_begin = kBegin;
  o.under_load = loaded;
  o.may_set = true;
  o.highest_sm_clock = 1380_MHz;
  o.state.emplace();
  o.state->at = o.now;
  o.state->sm_clock = sm_clock;
  return o;
}

class ClockGateTest : public testing::Test {
 protected:
  govern::Decision last(Megahertz sm_clock, double seconds, bool loaded = true) {
    govern::Decision decision;
    for (double t = 0; t <= seconds; t += 0.5) decision = gate_.next(observation(t, sm_clock, loaded));
    return decision;
  }

  bool limits_work_ = true;
  std::optional<bool> clocks_;
  ClockGate gate_{"some", [this](bool clocks) -> Result<std::unique_ptr<govern::Strategy>> {
                    clocks_ = clocks;
                    if (!limits_work_) return fail(ErrorCode::unavailable, "nothing else may be set");
                    return std::make_unique<govern::WholeRunStrategy>(Setting{.power_limit = 150_W});
                  }};
};

TEST_F(ClockGateTest, WaitsForLoadAndNamesWhoComes) {
  const auto decision = last(1380_MHz, 60, false);
  EXPECT_EQ(decision.action, govern::Action::wait);
  EXPECT_FALSE(clocks_);
  EXPECT_EQ(gate_.name(), "some");
}

TEST_F(ClockGateTest, AGpuAtItsHighestClockHasNoLock) {
  EXPECT_EQ(last(1380_MHz, 10).action, govern::Action::use_setting);
  EXPECT_EQ(clocks_, true);
  EXPECT_EQ(gate_.name(), "whole-run");
}

TEST_F(ClockGateTest, UnderALockClocksStayOffAndTheRecordSaysWhy) {
  const auto decision = last(1005_MHz, 5);
  EXPECT_EQ(clocks_, false);
  EXPECT_EQ(decision.action, govern::Action::use_setting);
  EXPECT_THAT(decision.why, HasSubstr("--found-sm-clock"));
  EXPECT_THAT(gate_.next(observation(11, 1005_MHz)).why, testing::Not(HasSubstr("--found-sm-clock")));
}

TEST_F(ClockGateTest, WhereNothingButClocksWasToBeSetItMeasuresOnly) {
  limits_work_ = false;
  const auto decision = last(1005_MHz, 10);
  EXPECT_EQ(decision.action, govern::Action::wait);
  EXPECT_EQ(gate_.name(), "measure-only");
  EXPECT_THAT(decision.why, HasSubstr("--found-sm-clock"));
}

TEST_F(ClockGateTest, AClockThatCannotBeReadIsNotTakenForAFreeOne) {
  auto blind = [](double t) {
    auto o = observation(t, 0_MHz);
    o.state->sm_clock.reset();
    return o;
  };
  for (double t = 0; t <= 20; t += 0.5) static_cast<void>(gate_.next(blind(t)));
  EXPECT_EQ(clocks_, false);
}

}  // namespace
}  // namespace rubato::conduct
