// The board around the chip, and names that are known but not supported.
#include "simgpu/nvml/client_abi.h"
#include "simgpu_nvml/stand_in.h"

namespace rubato::simgpu {
namespace {

using GetCpuAffinity = abi::Return(abi::Device, unsigned, unsigned long*);
using GetC2cMode = abi::Return(abi::Device, client::C2cMode*);
using WaitForEvent = abi::Return(abi::EventSet, client::EventData*, unsigned);
using RegisterEvents = abi::Return(abi::Device, unsigned long long, abi::EventSet);

TEST_F(StandIn, MigIsOffWhereTheChipHasItAndUnknownWhereItHasNot) {
  profiles("a100,rtxa4000,h100");
  scenario("{}");
  init();
  unsigned current = 7;
  unsigned pending = 7;
  for (const unsigned index : {0U, 2U}) {
    ASSERT_EQ(call<abi::DeviceTwoNumbers>("nvmlDeviceGetMigMode", gpu(index), &current, &pending),
              abi::kSuccess);
    EXPECT_EQ(current, 0U);
    EXPECT_EQ(pending, 0U);
  }
  EXPECT_EQ(call<abi::DeviceTwoNumbers>("nvmlDeviceGetMigMode", gpu(1), &current, &pending),
            abi::kNotSupported);
}

TEST_F(StandIn, PersistenceIsOnAndTurningItOffNeedsAnotherDriver) {
  init();
  unsigned mode = 0;
  ASSERT_EQ(call<abi::DeviceNumber>("nvmlDeviceGetPersistenceMode", gpu(), &mode), abi::kSuccess);
  EXPECT_EQ(mode, 1U);
  EXPECT_EQ(call<abi::SetNumber>("nvmlDeviceSetPersistenceMode", gpu(), 1U), abi::kSuccess);
  EXPECT_EQ(call<abi::SetNumber>("nvmlDeviceSetPersistenceMode", gpu(), 0U), abi::kNotSupported);
}

TEST_F(StandIn, ModesNeedTheSameRightsAsLimits) {
  scenario(R"({"rights": "none"})");
  init();
  EXPECT_EQ(call<abi::SetNumber>("nvmlDeviceSetPersistenceMode", gpu(), 1U), abi::kNoPermission);
}

TEST_F(StandIn, EveryProcessorIsNearAndASetTooSmallForThemIsRefused) {
  init();
  std::array<unsigned long, 64> set{};
  ASSERT_EQ(call<GetCpuAffinity>("nvmlDeviceGetCpuAffinity", gpu(), 64U, set.data()), abi::kSuccess);
  EXPECT_EQ(set[0] & 1UL, 1UL);
  EXPECT_EQ(call<GetCpuAffinity>("nvmlDeviceGetCpuAffinity", gpu(), 0U, set.data()), abi::kInsufficientSize);
}

TEST_F(StandIn, OnlyASuperchipSaysThatItHangsOnItsCpu) {
  profiles("gh200-480gb,v100");
  scenario("{}");
  init();
  client::C2cMode mode{};
  ASSERT_EQ(call<GetC2cMode>("nvmlDeviceGetC2cModeInfoV", gpu(0), &mode), abi::kSuccess);
  EXPECT_EQ(mode.enabled, 1U);
  EXPECT_EQ(call<GetC2cMode>("nvmlDeviceGetC2cModeInfoV", gpu(1), &mode), abi::kNotSupported);
}

TEST_F(StandIn, AnEventSetCanBeHadAndWaitedOnInVain) {
  init();
  abi::EventSet set = nullptr;
  ASSERT_EQ(call<abi::MakeEventSet>("nvmlEventSetCreate", &set), abi::kSuccess);
  EXPECT_EQ(call<RegisterEvents>("nvmlDeviceRegisterEvents", gpu(), 8ULL, set), abi::kNotSupported);
  client::EventData data{};
  EXPECT_EQ(call<WaitForEvent>("nvmlEventSetWait_v2", set, &data, 0U), abi::kTimeout);
  EXPECT_EQ(call<abi::FreeEventSet>("nvmlEventSetFree", set), abi::kSuccess);
}

TEST_F(StandIn, KnownNamesAreThereAndNotSupportedOnceADriverIsOpen) {
  EXPECT_EQ(call<abi::Plain>("nvmlDeviceGetBAR1MemoryInfo"), abi::kUninitialized);
  init();
  EXPECT_EQ(call<abi::Plain>("nvmlDeviceGetBAR1MemoryInfo"), abi::kNotSupported);
}

TEST_F(StandIn, TheTruthIsToldToTestsAndGrows) {
  init();
  using Energy = int(unsigned, double*);
  double before = -1;
  double after = -1;
  ASSERT_EQ(call<Energy>("rubatoSimulatedEnergy", 0U, &before), 0);
  ASSERT_EQ(call<Energy>("rubatoSimulatedEnergy", 0U, &after), 0);
  EXPECT_GE(before, 0);
  EXPECT_GE(after, before);
  EXPECT_EQ(call<Energy>("rubatoSimulatedEnergy", 2U, &after), -1) << "there are two GPUs";
}

}  // namespace
}  // namespace rubato::simgpu
