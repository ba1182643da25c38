#include "device/nvml/gpm.h"

#include "base/text.h"
#include "device_nvml/fake_driver.h"

namespace rubato::device::nvml::fake {
namespace {

using testing::HasSubstr;

TEST_F(Driver2016, WithoutMonitorsNamesTheFunctionItLacks) {
  open();
  EXPECT_THAT(can().read_counters.why_not, HasSubstr("nvmlGpmQueryDeviceSupport"));
  const auto read = gpu_->read_counters();
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::not_supported);
  EXPECT_THAT(read.error().what, testing::AllOf(HasSubstr("GPU-fake"), HasSubstr("nvmlGpmQueryDevice")));
}

TEST_F(Driver2023, OnAGpuWithoutMonitorsTakesNoSample) {
  open();
  EXPECT_THAT(can().read_counters.why_not, HasSubstr("Hopper"));
  EXPECT_FALSE(can().read_counters.needs_right);
  EXPECT_EQ(state_->samples_taken, 0);
}

TEST_F(Driver2023, ARefusedSampleIsAMissingRightWithItsRemedy) {
  state_->monitors = true;
  state_->sample_result = abi::kNoPermission;
  open();
  EXPECT_TRUE(can().read_counters.needs_right);
  EXPECT_THAT(can().read_counters.why_not, HasSubstr("NVML_ERROR_NO_PERMISSION"));
  EXPECT_THAT(can().read_counters.hint, HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
  EXPECT_EQ(gpu_->read_counters().error().code, ErrorCode::no_permission);
}

TEST_F(Driver2023, WithMigOnTheCountersAreTheInstances) {
  state_->monitors = true;
  state_->mig = 1;
  open();
  EXPECT_THAT(can().read_counters.why_not, HasSubstr("MIG"));
  EXPECT_EQ(state_->samples_taken, 0);
}

TEST_F(NewestDriver, ProbingTakesOneSampleAndGivesItsMemoryBack) {
  state_->monitors = true;
  open();
  EXPECT_TRUE(can().read_counters.available) << can().read_counters.why_not;
  EXPECT_EQ(state_->samples_taken, 1);
  EXPECT_EQ(state_->samples_freed, state_->samples_allocated);
  ASSERT_TRUE(gpu_->read_counters());
  ASSERT_TRUE(gpu_->read_counters());
  gpu_.reset();
  EXPECT_EQ(state_->samples_freed, state_->samples_allocated);
}

/// The reader alone, on a clock that the test moves.
class Monitors : public NewestDriver {
 protected:
  void SetUp() override {
    state_->monitors = true;
    has_metrics({{abi::kGpmSmActive, 50}, {abi::kGpmDram, 25}, {abi::kGpmPcieTx, 3}});
    library_ = Library::load(FAKE_2027, FsRoot{}).value();
    abi::Device device = nullptr;
    ASSERT_EQ(library_->nvml().handle_by_index(0, &device), abi::kSuccess);
    calls_.emplace(library_, device, "GPU-fake");
    reader_.emplace(library_);
    clock_.advance(100_s);
  }
  void TearDown() override {
    reader_.reset();
    calls_.reset();
    library_.reset();
  }
  void has_metrics(std::initializer_list<Metric> metrics) const {
    std::fill(std::begin(state_->metrics), std::end(state_->metrics), Metric{});
    std::copy(metrics.begin(), metrics.end(), state_->metrics);
  }
  Answer<FeatureVector> read_after(Seconds span) {
    clock_.advance(span);
    return reader_->read(*calls_, clock_);
  }
  static bool any(const FeatureVector& features) {
    return std::any_of(features.values.begin(), features.values.end(), [](const auto& v) { return !!v; });
  }

  std::shared_ptr<const Library> library_;
  std::optional<DeviceCalls> calls_;
  std::optional<GpmReader> reader_;
  VirtualClock clock_;
};

TEST_F(Monitors, TheFirstReadingOnlyBegins) {
  const auto first = read_after(1_s);
  ASSERT_TRUE(first.ok());
  EXPECT_FALSE(any(first.value));
  EXPECT_EQ(first.value.begin, first.value.end);
}

TEST_F(Monitors, TheSecondTellsFractionsAndBytesOfTheTimeBetween) {
  ASSERT_TRUE(read_after(0_s).ok());
  const auto second = read_after(2_s);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second.value.end - second.value.begin, 2_s);
  EXPECT_EQ(second.value[Feature::sm_active], 0.5);
  EXPECT_EQ(second.value[Feature::dram_active], 0.25);
  EXPECT_EQ(second.value[Feature::pcie_tx_bytes_per_s], 3.0 * 1024 * 1024);
  EXPECT_FALSE(second.value[Feature::nvlink_tx_bytes_per_s]) << "not supported on this GPU";
}

TEST_F(Monitors, EveryReadingBeginsWhereTheLastEnded) {
  ASSERT_TRUE(read_after(0_s).ok());
  const auto second = read_after(1_s);
  const auto third = read_after(1_s);
  ASSERT_TRUE(second.ok() && third.ok());
  EXPECT_EQ(third.value.begin, second.value.end);
  EXPECT_EQ(third.value[Feature::sm_active], 0.5);
  EXPECT_EQ(calls_->cost().calls, 7U) << "two allocations, three samples, two questions";
}

TEST_F(Monitors, BeforeTheyAreRefreshedTheyAreNotAsked) {
  ASSERT_TRUE(read_after(0_s).ok());
  const auto soon = read_after(0.1_s);
  ASSERT_TRUE(soon.ok());
  EXPECT_FALSE(any(soon.value));
  EXPECT_EQ(state_->metric_calls, 0);
}

TEST_F(Monitors, AbsurdValuesAreAbsent) {
  has_metrics({{abi::kGpmSmActive, std::nan("")},
               {abi::kGpmDram, -1},
               {abi::kGpmTensor, 100.4},
               {abi::kGpmFp32, 10, abi::kNoData}});
  ASSERT_TRUE(read_after(0_s).ok());
  const auto read = read_after(1_s);
  EXPECT_FALSE(read.value[Feature::sm_active] || read.value[Feature::dram_active]);
  EXPECT_FALSE(read.value[Feature::fp32_active]);
  EXPECT_EQ(read.value[Feature::tensor_active], 1.0) << "rounded beyond the whole";
}

TEST_F(Monitors, ADriversRefusalIsAnErrorAndTheNextReadingBeginsAnew) {
  ASSERT_TRUE(read_after(0_s).ok());
  state_->sample_result = abi::kUnknown;
  EXPECT_EQ(read_after(1_s).code, abi::kUnknown);
  state_->sample_result = abi::kSuccess;
  EXPECT_FALSE(any(read_after(1_s).value));
  EXPECT_TRUE(any(read_after(1_s).value));
  state_->metrics_result = abi::kNoData;
  EXPECT_EQ(read_after(1_s).code, abi::kNoData);
}

TEST_F(Monitors, WhatWasCountedBeforeAResetIsForgotten) {
  ASSERT_TRUE(read_after(0_s).ok());
  state_->reset = true;
  const auto after = read_after(1_s);
  ASSERT_TRUE(after.ok()) << "the GPU was found again";
  EXPECT_EQ(after.value.begin, after.value.end);
  EXPECT_FALSE(any(after.value));
  EXPECT_TRUE(any(read_after(1_s).value));
}

}  // namespace
}  // namespace rubato::device::nvml::fake
