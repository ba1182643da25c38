// What every backend promises of settings, and of what it refuses to set.
#include <fstream>
#include <sstream>

#include "device/gpu_contract.h"

namespace rubato::device {
namespace {

using testing::HasSubstr;

TEST_P(GpuContract, ALockedClockIsReadAfterAWhileAndNotAboveTheLock) {
  NEEDS_SETTING(set_sm_clock);
  if (!can().read_clocks.available) GTEST_SKIP() << can().read_clocks.why_not;
  const Megahertz lowest = clocks().sm.front();
  ASSERT_TRUE(control_->lock_sm_clock({lowest, lowest}));
  const TimePoint until = backend_->clock()->now() + 30_s;
  std::optional<Megahertz> read;
  for (bool over = false; !over && !(read && *read <= lowest + kReadOut);) {
    over = backend_->clock()->now() >= until;
    const auto quick = gpu_->read_clocks();
    ASSERT_TRUE(quick) << quick.error().what;
    read = quick->sm;
  }
  ASSERT_TRUE(read);
  EXPECT_LE(*read, lowest + kReadOut);
  EXPECT_TRUE(control_->reset_sm_clock());
}

TEST_P(GpuContract, CapabilitiesMakeNoSettingCall) {
  if (GetParam().through != Through::stand_in) GTEST_SKIP() << "only the stand-in keeps a trace of calls";
  std::ifstream file(std::getenv("RUBATO_SIM_TRACE"));
  std::stringstream trace;
  trace << file.rdbuf();
  EXPECT_THAT(trace.str(), HasSubstr("nvmlDeviceGetPowerManagementLimitConstraints"));
  EXPECT_THAT(trace.str(), testing::Not(HasSubstr("DeviceSet")));
  EXPECT_THAT(trace.str(), testing::Not(HasSubstr("DeviceReset")));
}

TEST_P(GpuContract, SetLimitReadsBackAsRequested) {
  NEEDS_SETTING(set_power_limit);
  const PowerLimits found = limits();
  const Watts asked = found.min + 7_W;
  const auto set = control_->set_power_limit(asked);
  ASSERT_TRUE(set) << set.error().what;
  EXPECT_EQ(limits().requested, asked);
  ASSERT_TRUE(control_->set_power_limit(found.requested));
  EXPECT_EQ(limits().requested, found.requested);
}

TEST_P(GpuContract, BothEndsOfTheLimitRangeCanBeSet) {
  NEEDS_SETTING(set_power_limit);
  const PowerLimits found = limits();
  for (const Watts end : {found.min, found.max}) {
    ASSERT_TRUE(control_->set_power_limit(end));
    EXPECT_EQ(limits().requested, end);
  }
  ASSERT_TRUE(control_->set_power_limit(found.requested));
}

TEST_P(GpuContract, LimitOutsideTheRangeIsRefusedWithTheRange) {
  if (!may_set(GetParam())) GTEST_SKIP() << "RUBATO_TEST_MAY_SET is not 1";
  const PowerLimits found = limits();
  for (const Watts wrong : {found.min - 1_W, found.max + 1_W, Watts(-5), Watts(std::nan(""))}) {
    const auto set = control_->set_power_limit(wrong);
    ASSERT_FALSE(set) << cat(wrong);
    if (!can().set_power_limit.available && set.error().code == ErrorCode::no_permission) continue;
    EXPECT_EQ(set.error().code, ErrorCode::invalid_argument) << set.error().what;
    EXPECT_THAT(set.error().what, testing::AllOf(HasSubstr(cat(found.min)), HasSubstr(cat(found.max))));
  }
  EXPECT_EQ(limits().requested, found.requested);
}

TEST_P(GpuContract, RefusedWriteLeavesStateUnchanged) {
  if (!may_set(GetParam())) GTEST_SKIP() << "RUBATO_TEST_MAY_SET is not 1";
  if (can().set_power_limit.available && GetParam().rights != "none")
    GTEST_SKIP() << "nothing is refused here";
  const PowerLimits found = limits();
  const auto set = control_->set_power_limit(found.min);
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().code, ErrorCode::no_permission) << set.error().what;
  EXPECT_FALSE(set.error().hint.empty());
  EXPECT_THAT(set.error().what, HasSubstr(gpu_->identity().name));
  EXPECT_FALSE(control_->lock_sm_clock({clocks().sm.front(), clocks().sm.front()}));
  EXPECT_EQ(limits().requested, found.requested);
}

TEST_P(GpuContract, EveryAdvertisedSmClockCanBeLockedAndReset) {
  NEEDS_SETTING(set_sm_clock);
  for (const Megahertz clock : clocks().sm) {
    const auto locked = control_->lock_sm_clock({clock, clock});
    ASSERT_TRUE(locked) << locked.error().what;
  }
  EXPECT_TRUE(control_->lock_sm_clock({clocks().sm.front(), clocks().sm.back()}));
  EXPECT_TRUE(control_->reset_sm_clock());
  EXPECT_TRUE(control_->reset_sm_clock()) << "unlocking twice is no error";
}

TEST_P(GpuContract, EveryAdvertisedMemoryClockCanBeLockedAndReset) {
  NEEDS_SETTING(set_memory_clock);
  for (const Megahertz clock : clocks().memory) {
    const auto locked = control_->lock_memory_clock({clock, clock});
    ASSERT_TRUE(locked) << locked.error().what;
  }
  EXPECT_TRUE(control_->reset_memory_clock());
}

TEST_P(GpuContract, ApplicationClocksReadBackAndResetToTheirDefault) {
  NEEDS_SETTING(set_application_clocks);
  const auto found = gpu_->application_clocks();
  ASSERT_TRUE(found) << found.error().what;
  const LegalClocks legal = clocks().pairs.back();
  const ApplicationClocks asked{.memory = legal.memory, .sm = legal.sm.front()};
  const auto set = control_->set_application_clocks(asked);
  ASSERT_TRUE(set) << set.error().what;
  EXPECT_EQ(gpu_->application_clocks()->requested, asked);
  ASSERT_TRUE(control_->reset_application_clocks());
  EXPECT_EQ(gpu_->application_clocks()->requested, found->by_default);
  ASSERT_TRUE(control_->set_application_clocks(found->requested));
  EXPECT_EQ(gpu_->application_clocks()->requested, found->requested);
}

TEST_P(GpuContract, AClockItDoesNotHaveIsRefusedWithTheNearest) {
  NEEDS_SETTING(set_sm_clock);
  const Megahertz highest = clocks().sm.back();
  const auto locked = control_->lock_sm_clock({highest + 1000_MHz, highest + 1000_MHz});
  ASSERT_FALSE(locked);
  EXPECT_EQ(locked.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(locked.error().what + locked.error().hint, HasSubstr(number(highest.value())));
}

TEST_P(GpuContract, WhatIsNoClockIsRefused) {
  NEEDS_SETTING(set_sm_clock);
  for (const Megahertz wrong : {0_MHz, Megahertz(-900), Megahertz(std::nan("")), Megahertz(1e300)}) {
    EXPECT_FALSE(control_->lock_sm_clock({wrong, wrong})) << cat(wrong);
    EXPECT_FALSE(control_->set_application_clocks({wrong, wrong})) << cat(wrong);
  }
}

TEST_P(GpuContract, AClockRangeUpsideDownIsRefused) {
  NEEDS_SETTING(set_sm_clock);
  const auto locked = control_->lock_sm_clock({clocks().sm.back(), clocks().sm.front()});
  ASSERT_FALSE(locked);
  EXPECT_EQ(locked.error().code, ErrorCode::invalid_argument);
}

TEST_P(GpuContract, TwoOpenersSeeTheSameGpu) {
  NEEDS_SETTING(set_power_limit);
  auto second_backend = open_subject(GetParam());
  ASSERT_TRUE(second_backend) << second_backend.error().what;
  auto second = (*second_backend)->open(gpu_->identity().id);
  ASSERT_TRUE(second) << second.error().what;
  const PowerLimits found = limits();
  ASSERT_TRUE(control_->set_power_limit(found.min));
  const auto seen = (*second)->power_limits();
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->requested, found.min);
  ASSERT_TRUE(control_->set_power_limit(found.requested));
}

}  // namespace
}  // namespace rubato::device
