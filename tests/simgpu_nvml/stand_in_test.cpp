// The stand-in's main calls.
#include "simgpu_nvml/stand_in.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace rubato::simgpu {
namespace {

using device::sim::Segment;
using device::sim::SimWorld;
using testing::HasSubstr;

TEST_F(StandIn, BeforeInitAndAfterTheLastShutdownNothingAnswers) {
  unsigned count = 0;
  EXPECT_EQ(call<abi::GetNumber>("nvmlDeviceGetCount_v2", &count), abi::kUninitialized);
  init();
  init();
  EXPECT_EQ(call<abi::Plain>("nvmlShutdown"), abi::kSuccess);
  EXPECT_EQ(call<abi::GetNumber>("nvmlDeviceGetCount_v2", &count), abi::kSuccess);
  EXPECT_EQ(count, 2U);
  EXPECT_EQ(call<abi::Plain>("nvmlShutdown"), abi::kSuccess);
  EXPECT_EQ(call<abi::GetNumber>("nvmlDeviceGetCount_v2", &count), abi::kUninitialized);
}

TEST_F(StandIn, UnknownHandlesAndMissingOutputsAreInvalid) {
  init();
  unsigned number = 0;
  for (const std::uintptr_t wrong : {0UL, 3UL, ~0UL})
    EXPECT_EQ(
        call<abi::DeviceNumber>("nvmlDeviceGetPowerUsage",
                                reinterpret_cast<abi::Device>(wrong),  // NOLINT(performance-no-int-to-ptr)
                                &number),
        abi::kInvalidArgument);
  EXPECT_EQ(call<abi::DeviceNumber>("nvmlDeviceGetPowerUsage", gpu(), static_cast<unsigned*>(nullptr)),
            abi::kInvalidArgument);
}

TEST_F(StandIn, ShortTextBuffersAreRefusedUntouched) {
  init();
  std::array<char, 4> text = {'x', 'x', 'x', 'x'};
  EXPECT_EQ(call<abi::DeviceText>("nvmlDeviceGetUUID", gpu(), text.data(), 4U), abi::kInsufficientSize);
  EXPECT_EQ(text[0], 'x');
}

TEST_F(StandIn, AGpuIsFoundByUuidAndByPciIdInShortAndLongForm) {
  init();
  std::array<char, abi::kUuidSize> uuid{};
  ASSERT_EQ(call<abi::DeviceText>("nvmlDeviceGetUUID", gpu(1), uuid.data(), abi::kUuidSize), abi::kSuccess);
  abi::PciInfo pci{};
  ASSERT_EQ(call<abi::DevicePci>("nvmlDeviceGetPciInfo_v3", gpu(1), &pci), abi::kSuccess);
  abi::Device found = nullptr;
  EXPECT_EQ(
      call<abi::HandleByName>("nvmlDeviceGetHandleByUUID", static_cast<const char*>(uuid.data()), &found),
      abi::kSuccess);
  EXPECT_EQ(found, gpu(1));
  for (const char* place :
       {static_cast<const char*>(pci.bus_id), static_cast<const char*>(pci.bus_id_legacy)}) {
    found = nullptr;
    EXPECT_EQ(call<abi::HandleByName>("nvmlDeviceGetHandleByPciBusId_v2", place, &found), abi::kSuccess)
        << place;
    EXPECT_EQ(found, gpu(1)) << place;
  }
  EXPECT_EQ(call<abi::HandleByName>("nvmlDeviceGetHandleByUUID", "GPU-none", &found), abi::kNotFound);
}

TEST_F(StandIn, ThreeKindsOfLimitAreToldApart) {
  init();
  EXPECT_EQ(milliwatts("nvmlDeviceGetPowerManagementLimit", gpu()), 140'000U);
  EXPECT_EQ(milliwatts("nvmlDeviceGetEnforcedPowerLimit", gpu()), 140'000U);
  EXPECT_EQ(milliwatts("nvmlDeviceGetPowerManagementDefaultLimit", gpu()), 250'000U);
}

TEST_F(StandIn, AnUnknownFieldFailsAloneAndTheOthersAreRight) {
  init();
  std::array<abi::FieldValue, 4> fields{};
  fields[0].field = abi::kFieldPowerInstant;
  fields[1].field = 9999;
  fields[2].field = abi::kFieldTotalEnergy;
  fields[3].field = abi::kFieldPowerRequestedLimit;
  ASSERT_EQ(call<abi::DeviceFields>("nvmlDeviceGetFieldValues", gpu(), 4, fields.data()), abi::kSuccess);
  EXPECT_EQ(fields[0].result, abi::kSuccess);
  EXPECT_GT(fields[0].value.unsigned_int, 1000U);
  EXPECT_EQ(fields[1].result, abi::kNotSupported);
  EXPECT_EQ(fields[2].type, abi::ValueType::unsigned_long_long);
  EXPECT_EQ(fields[3].value.unsigned_int, 140'000U);
}

TEST_F(StandIn, ALockIsRoundedToAClockTheGpuHas) {
  init();
  ASSERT_EQ(call<abi::SetTwoNumbers>("nvmlDeviceSetGpuLockedClocks", gpu(), 0U, 1001U), abi::kSuccess);
  const auto world = SimWorld::open(folder_ / "gpu.world");
  ASSERT_TRUE(world) << world.error().what;
  const auto truth = (*world)->truth(0, (*world)->clock()->now());
  ASSERT_TRUE(truth && truth->sm_lock);
  const auto& clocks = (*world)->profile(0).sm_clocks;
  EXPECT_EQ(truth->sm_lock->min, clocks.front());
  EXPECT_NE(std::find(clocks.begin(), clocks.end(), truth->sm_lock->max), clocks.end());
  EXPECT_LE(abs(truth->sm_lock->max - 1001_MHz), 8_MHz);
}

TEST_F(StandIn, MemoryClocksAreLockedOnAmpereOnly) {
  init();
  EXPECT_EQ(call<abi::SetTwoNumbers>("nvmlDeviceSetMemoryLockedClocks", gpu(0), 877U, 877U),
            abi::kNotSupported);
  EXPECT_EQ(call<abi::SetTwoNumbers>("nvmlDeviceSetMemoryLockedClocks", gpu(1), 405U, 405U), abi::kSuccess);
}

TEST_F(StandIn, ProcessListsSayHowMuchRoomTheyNeedInOldAndNewRows) {
  init();
  const auto world = SimWorld::open(folder_ / "gpu.world");
  ASSERT_TRUE(world);
  const std::array<Segment, 1> iteration = {Segment{.compute_s = 0.1}};
  ASSERT_TRUE((*world)->add_context(0, ::getpid(), 1'000'000, iteration, (*world)->clock()->now()));

  unsigned count = 0;
  EXPECT_EQ(call<abi::DeviceProcesses>("nvmlDeviceGetComputeRunningProcesses_v3", gpu(), &count,
                                       static_cast<abi::Process*>(nullptr)),
            abi::kInsufficientSize);
  EXPECT_EQ(count, 1U);
  abi::Process row{};
  ASSERT_EQ(call<abi::DeviceProcesses>("nvmlDeviceGetComputeRunningProcesses_v3", gpu(), &count, &row),
            abi::kSuccess);
  EXPECT_EQ(row.pid, static_cast<unsigned>(::getpid()));
  EXPECT_EQ(row.used_memory, 1'000'000U);
  abi::ProcessV1 old_row{};
  ASSERT_EQ(call<abi::DeviceProcessesV1>("nvmlDeviceGetComputeRunningProcesses", gpu(), &count, &old_row),
            abi::kSuccess);
  EXPECT_EQ(old_row.used_memory, 1'000'000U);
  count = 0;
  EXPECT_EQ(call<abi::DeviceProcessesV1>("nvmlDeviceGetGraphicsRunningProcesses", gpu(), &count,
                                         static_cast<abi::ProcessV1*>(nullptr)),
            abi::kSuccess);
}

TEST_F(StandIn, AFaultOfTheWorldIsTheDriversReturnCode) {
  scenario(R"({"faults": [{"call": "read_power", "effect": "error", "error": "device_lost"}]})");
  init();
  unsigned mw = 0;
  EXPECT_EQ(call<abi::DeviceNumber>("nvmlDeviceGetPowerUsage", gpu(), &mw), abi::kGpuIsLost);
  EXPECT_EQ(call<abi::DeviceNumber>("nvmlDeviceGetPowerUsage", gpu(), &mw), abi::kSuccess);
}

TEST_F(StandIn, WithoutRightsNothingIsSet) {
  scenario(R"({"rights": "none"})");
  init();
  EXPECT_EQ(call<abi::SetNumber>("nvmlDeviceSetPowerManagementLimit", gpu(), 150'000U), abi::kNoPermission);
  EXPECT_EQ(milliwatts("nvmlDeviceGetPowerManagementLimit", gpu()), 250'000U);
}

TEST_F(StandIn, TheNewerLimitCallSetsTheSameLimitAndChecksItsVersion) {
  init();
  abi::PowerValueV2 value{
      .version = abi::kPowerValueVersion2, .scope = abi::kPowerScopeGpu, .milliwatts = 160'000};
  ASSERT_EQ(call<abi::SetPowerValue>("nvmlDeviceSetPowerManagementLimit_v2", gpu(), &value), abi::kSuccess);
  EXPECT_EQ(milliwatts("nvmlDeviceGetPowerManagementLimit", gpu()), 160'000U);
  value.version = 1;
  EXPECT_EQ(call<abi::SetPowerValue>("nvmlDeviceSetPowerManagementLimit_v2", gpu(), &value),
            abi::kArgumentVersionMismatch);
}

TEST_F(StandIn, AWorldThatCannotBeMadeFailsInit) {
  ::setenv("RUBATO_SIM_PROFILES", "no-such-gpu", 1);
  EXPECT_NE(call<abi::Plain>("nvmlInit_v2"), abi::kSuccess);
}

TEST_F(StandIn, TheTraceNamesEachCallAndItsAnswer) {
  init();
  unsigned mw = 0;
  (void)call<abi::DeviceNumber>("nvmlDeviceGetPowerUsage", gpu(), &mw);
  EXPECT_THAT(trace(),
              HasSubstr("nvmlInit_v2 0\nnvmlDeviceGetHandleByIndex_v2 0\nnvmlDeviceGetPowerUsage 0\n"));
}

TEST_F(StandIn, TellsRubatoTheWorldsClockAndPath) {
  scenario(R"({"rate": 50, "outlives_job": false})");
  init();
  double rate = 0;
  long long origin = 0;
  ASSERT_EQ(call<abi::SimulatedClock>("rubatoSimulatedClock", &rate, &origin), 0);
  EXPECT_EQ(rate, 50);
  const auto world = SimWorld::open(folder_ / "gpu.world");
  ASSERT_TRUE(world);
  const ScaledClock ours(TimePoint{origin}, rate);
  const TimePoint before = (*world)->clock()->now();
  const TimePoint now = ours.now();
  EXPECT_TRUE(before <= now && now <= (*world)->clock()->now());
  EXPECT_EQ(call<abi::SimulatedOutlivesJob>("rubatoSimulatedOutlivesJob"), 0);
  auto* path = reinterpret_cast<abi::SimulatedWorld*>(::dlsym(library_, "rubatoSimulatedWorld"));
  ASSERT_NE(path, nullptr);
  EXPECT_EQ(std::string(path()), (folder_ / "gpu.world").string());
}

}  // namespace
}  // namespace rubato::simgpu
