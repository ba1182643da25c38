#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/nvml/backend.h"

namespace rubato::device::nvml {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

Result<std::unique_ptr<Backend>> open_library(const std::string& file) {
  return open_with({.library = file});
}

TEST(NoDriver, IsUnavailableAndPointsAtDoctorAndTheSimulatedGpu) {
  const auto backend = open_library("libnvidia-ml-that-is-not-there.so.1");
  ASSERT_FALSE(backend);
  EXPECT_EQ(backend.error().code, ErrorCode::unavailable);
  EXPECT_THAT(backend.error().what, HasSubstr("libnvidia-ml-that-is-not-there.so.1"));
  EXPECT_THAT(backend.error().hint, testing::AllOf(HasSubstr("rubato doctor"), HasSubstr("--gpu sim:v100")));
}

TEST(NoDriver, AFailingInitKeepsTheDriversWord) {
  const auto backend = open_library(DRIVER_NOT_LOADED);
  ASSERT_FALSE(backend);
  EXPECT_EQ(backend.error().code, ErrorCode::unavailable);
  EXPECT_THAT(backend.error().what, HasSubstr("NVML_ERROR_DRIVER_NOT_LOADED"));
}

TEST(NoDriver, ALibraryThatIsNotNvmlIsSaid) {
  const auto backend = open_library("libm.so.6");
  ASSERT_FALSE(backend);
  EXPECT_THAT(backend.error().what, HasSubstr("nvmlInit"));
}

TEST(NoDriver, ZeroGpusIsUnavailable) {
  const auto backend = open_library(DRIVER_WITHOUT_GPU);
  ASSERT_FALSE(backend);
  EXPECT_EQ(backend.error().code, ErrorCode::unavailable);
  EXPECT_THAT(backend.error().what, HasSubstr("no GPU"));
}

TEST(NoDriver, ALibraryThatCannotNameItsGpusFailsWithWords) {
  const auto backend = open_library(DRIVER_BARE);
  ASSERT_FALSE(backend);
  EXPECT_THAT(backend.error().what, HasSubstr("NVML_ERROR_FUNCTION_NOT_FOUND"));
}

TEST(NoDriver, TheBackendTakesNoArgument) {
  const auto backend = nvml::open("v100");
  ASSERT_FALSE(backend);
  EXPECT_EQ(backend.error().code, ErrorCode::invalid_argument);
}

class OldDriver : public testing::Test {
 protected:
  void SetUp() override {
    auto backend = open_library(DRIVER_OLD);
    ASSERT_TRUE(backend) << backend.error().what;
    backend_ = std::move(*backend);
    auto gpu = backend_->open(backend_->gpus().front().id);
    ASSERT_TRUE(gpu) << gpu.error().what;
    gpu_ = std::move(*gpu);
  }
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Gpu> gpu_;
};

TEST_F(OldDriver, IsHardwareOnTheRealClock) {
  EXPECT_FALSE(backend_->simulated());
  EXPECT_EQ(gpu_->kind(), Kind::measured);
  EXPECT_NE(dynamic_cast<const RealClock*>(backend_->clock().get()), nullptr);
  EXPECT_THAT(backend_->job_environment({gpu_->identity().id}), IsEmpty());
  EXPECT_FALSE(backend_->outlives_job());
}

TEST_F(OldDriver, ALostGpuDoesNotTakeTheOthersWithIt) {
  EXPECT_EQ(backend_->gpus().size(), 1U);
  EXPECT_EQ(backend_->gpus().front().id.uuid, "GPU-old");
}

TEST_F(OldDriver, MissingFunctionsAreNamedInTheCapabilities) {
  const Capabilities& can = gpu_->capabilities();
  EXPECT_TRUE(can.read_power.available);
  EXPECT_THAT(can.read_energy_counter.why_not, HasSubstr("nvmlDeviceGetTotalEnergyConsumption"));
  EXPECT_THAT(can.read_clocks.why_not, HasSubstr("nvmlDeviceGetClockInfo"));
  EXPECT_THAT(can.read_limiter.why_not, HasSubstr("nvmlDeviceGetCurrentClocksEventReasons"));
  EXPECT_THAT(can.set_power_limit.why_not, HasSubstr("nvmlDeviceSetPowerManagementLimit"));
  EXPECT_THAT(can.set_sm_clock.why_not, HasSubstr("nvmlDeviceSetGpuLockedClocks"));
}

TEST_F(OldDriver, PowerFallsBackToTheOldCallAndTheCounterIsAbsent) {
  const auto reading = gpu_->read_fast();
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->power, 123.456_W);
  EXPECT_FALSE(reading->energy_counter);
}

TEST_F(OldDriver, WhatCannotBeReadIsAbsentNotZero) {
  const auto reading = gpu_->read_slow();
  ASSERT_TRUE(reading);
  EXPECT_FALSE(reading->sm_clock || reading->temperature || reading->limiter || reading->requested_limit);
}

TEST_F(OldDriver, ShortProcessRowsAreReadAndGrow) {
  const auto processes = gpu_->compute_processes();
  ASSERT_TRUE(processes);
  ASSERT_EQ(processes->size(), 70U);
  EXPECT_EQ(processes->back().pid, 1069);
  EXPECT_FALSE(processes->back().memory_bytes);
}

TEST_F(OldDriver, ASettingCallThatIsMissingFailsWithTheGpusName) {
  const auto control = backend_->open_control(gpu_->identity().id);
  ASSERT_TRUE(control);
  const auto done = (*control)->reset_sm_clock();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::not_supported);
  EXPECT_THAT(done.error().what, HasSubstr("GPU-old"));
}

TEST_F(OldDriver, EveryCallIsCountedAndTimed) {
  const CallCost before = gpu_->cost();
  ASSERT_TRUE(gpu_->read_fast());
  EXPECT_EQ(gpu_->cost().calls, before.calls + 1);
  EXPECT_GE(gpu_->cost().inside, before.inside);
}

}  // namespace
}  // namespace rubato::device::nvml
