#include "conduct/switch_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>

namespace rubato::conduct {
namespace {

constexpr predict::Clocks kSlow{900_MHz, 877_MHz};
constexpr predict::Clocks kFast{1200_MHz, 877_MHz};

/// The other thread's doing, which tells nobody; bounded, so that a failure is one.
template <class Condition>
bool comes_true(const Condition& condition) {
  for (int i = 0; i < 10'000 && !condition(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return condition();
}

TEST(SwitchThread, SendsAtTheMomentAndNotBefore) {
  const auto clock = std::make_shared<RealClock>();
  SwitchThread thread(clock, {});
  std::promise<TimePoint> sent;
  thread.send_by([&](const predict::Clocks& clocks) {
    EXPECT_EQ(clocks, kSlow);
    sent.set_value(clock->now());
    return Status();
  });
  const TimePoint at = clock->now() + 0.05_s;
  thread.plan({{at, at + 60_s, kSlow}});
  EXPECT_GE(sent.get_future().get(), at);
  thread.stop();
  EXPECT_EQ(thread.state().counts.sent, 1U);
}

TEST(SwitchThread, WhatBecomesLateBehindASlowRequestIsDropped) {
  const auto clock = std::make_shared<RealClock>();
  SwitchThread thread(clock, {});
  std::promise<void> entered;
  std::promise<void> leave;
  int sends = 0;
  thread.send_by([&](const predict::Clocks&) {
    if (++sends == 1) {
      entered.set_value();
      leave.get_future().wait();
    }
    return Status();
  });
  const TimePoint now = clock->now();
  thread.plan({{now, now + 60_s, kSlow}, {now, now, kFast}});
  entered.get_future().wait();  // planning and asking go on while the driver takes its time
  EXPECT_EQ(thread.state().counts.sent, 1U);
  leave.set_value();
  EXPECT_TRUE(comes_true([&] { return thread.state().counts.late == 1; }));
  EXPECT_EQ(thread.state().counts.sent, 1U);
}

TEST(SwitchThread, StopWaitsForTheRequestUnderWayAndNothingFollows) {
  const auto clock = std::make_shared<RealClock>();
  SwitchThread thread(clock, {});
  std::promise<void> entered;
  std::atomic<int> finished{0};
  thread.send_by([&](const predict::Clocks&) {
    if (finished == 0) entered.set_value();
    ++finished;
    return Status();
  });
  const TimePoint now = clock->now();
  thread.plan({{now, now + 60_s, kSlow}, {now + 3600_s, now + 3660_s, kFast}});
  entered.get_future().wait();
  thread.stop();
  EXPECT_EQ(finished, 1);
}

TEST(SwitchThread, ARefusalIsKeptAndEndsIt) {
  const auto clock = std::make_shared<RealClock>();
  SwitchThread thread(clock, {});
  thread.send_by([](const predict::Clocks&) { return Status(fail(ErrorCode::conflict, "somebody else")); });
  const TimePoint now = clock->now();
  thread.plan({{now, now + 60_s, kSlow}, {now, now + 60_s, kFast}});
  ASSERT_TRUE(comes_true([&] { return thread.state().failure.has_value(); }));
  EXPECT_EQ(thread.state().failure->what, "somebody else");
  EXPECT_EQ(thread.state().counts.sent, 1U);
}

}  // namespace
}  // namespace rubato::conduct
