// A GPU that goes while rubato runs: lost, reset by somebody, or its driver replaced. Words, no crash, and
// back where it comes back.
#include "device_nvml/fake_driver.h"

namespace rubato::device::nvml::fake {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class LostGpu : public Driver2023 {};

TEST_F(LostGpu, AtAnyCallIsAnErrorThatNamesTheGpuAndTheRemedy) {
  int refused = 0;
  for (int calls = 0; calls < 80; ++calls) {
    *state_ = State();
    has_fields({{186, 0, 210'000}, {83, 0, 7'000'000}});
    state_->calls_until_lost = calls;
    const auto backend = open_backend();
    ASSERT_TRUE(backend) << backend.error().what;
    const auto gpu = (*backend)->open((*backend)->gpus().front().id);
    if (!gpu) {
      ++refused;
      EXPECT_EQ(gpu.error().code, ErrorCode::device_lost);
      continue;
    }
    (void)(*gpu)->supported_clocks();
    (void)(*gpu)->power_limits();
    (void)(*gpu)->compute_processes();
    (void)(*gpu)->application_clocks();
    (void)(*gpu)->read_slow();
    state_->calls_until_lost = 0;
    const auto reading = (*gpu)->read_slow();
    ASSERT_FALSE(reading);
    EXPECT_EQ(reading.error().code, ErrorCode::device_lost);
    EXPECT_THAT(reading.error().what, AllOf(HasSubstr("GPU-fake"), HasSubstr("NVML_ERROR_GPU_IS_LOST")));
    EXPECT_THAT(reading.error().hint, HasSubstr("xid"));
  }
  EXPECT_GT(refused, 0);
}

TEST_F(LostGpu, ForGoodCostsNextToNothingToKeepAskingFor) {
  has_fields({{186, 0, 210'000}, {83, 0, 7'000'000}});
  open();
  state_->calls_until_lost = 0;
  const int before = state_->lookups;
  for (int tick = 0; tick < 1000; ++tick) EXPECT_FALSE(gpu_->read_fast());
  EXPECT_LE(state_->lookups - before, 10) << "at the 1st, 2nd, 4th ... 512th failure";
  state_->calls_until_lost = -1;
  EXPECT_EQ(fast().power, 210_W);
}

TEST_F(LostGpu, ResetBySomebodyIsTakenUpAgainWithItsCounterAsItIs) {
  has_fields({{186, 0, 210'000}, {83, 0, 7'000'000}});
  open();
  EXPECT_EQ(fast().energy_counter, 7000_J);
  state_->reset = true;
  state_->fields[1].value = 12'000;
  EXPECT_EQ(fast().energy_counter, 12_J) << "lower than before: whoever sums it up sees that it began anew";
  EXPECT_EQ(state_->inits, 2);
  EXPECT_EQ(state_->shutdowns, 0) << "ending the session would undo the settings of every other GPU";
}

TEST_F(LostGpu, AfterAResetEveryHolderGetsANewHandle) {
  open();
  const auto setter = control();
  state_->reset = true;
  EXPECT_EQ(fast().power, 101_W);
  EXPECT_TRUE(setter->set_power_limit(150_W));
  EXPECT_EQ(state_->requested_mw, 150'000U);
  EXPECT_TRUE(backend_->open(backend_->gpus().front().id));
  EXPECT_EQ(state_->stale_handles, 0);
  EXPECT_EQ(state_->inits, 2) << "once for all of them";
}

TEST_F(LostGpu, WhereTheDriverDoesNotComeBackTheWordsSaySo) {
  open();
  state_->reset = true;
  state_->init = abi::kLibRmVersionMismatch;
  const auto reading = gpu_->read_fast();
  ASSERT_FALSE(reading);
  EXPECT_EQ(reading.error().code, ErrorCode::device_lost);
  EXPECT_THAT(reading.error().what, HasSubstr("NVML_ERROR_UNINITIALIZED"));
  EXPECT_THAT(reading.error().hint, HasSubstr("start rubato again"));
}

TEST_F(LostGpu, ALibraryOfAnotherVersionThanTheKernelModuleNamesBoth) {
  state_->init = abi::kLibRmVersionMismatch;
  write("proc/driver/nvidia/version",
        "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12 19:39:15 UTC 2024\n"
        "GCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n");
  const auto backend = open_backend();
  ASSERT_FALSE(backend);
  EXPECT_EQ(backend.error().code, ErrorCode::unavailable);
  EXPECT_THAT(backend.error().what,
              AllOf(HasSubstr("NVML_ERROR_LIB_RM_VERSION_MISMATCH"), HasSubstr("kernel module is 535.183.01"),
                    HasSubstr("NVML 12.550.54")));
  EXPECT_THAT(backend.error().hint, HasSubstr("reboot"));
}

TEST_F(LostGpu, WithoutTheKernelModulesFileTheMismatchIsStillSaid) {
  state_->init = abi::kLibRmVersionMismatch;
  EXPECT_THAT(open_backend().error().what, HasSubstr("NVML_ERROR_LIB_RM_VERSION_MISMATCH"));
}

}  // namespace
}  // namespace rubato::device::nvml::fake
