#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "feature/cupti/cupti.h"
#include "feature_cupti/fake_cupti.h"

namespace rubato::feature::cupti {
namespace {

using ::testing::Contains;
using ::testing::DoubleEq;
using ::testing::DoubleNear;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Optional;

constexpr std::uint64_t kMs = 1'000'000;

/// Counters need nothing of a GPU but its name and place.
class NamedGpu final : public device::Gpu {
 public:
  explicit NamedGpu(Kind kind = Kind::measured) : kind_(kind) {}
  const GpuIdentity& identity() const override { return identity_; }
  const Capabilities& capabilities() const override { return capabilities_; }
  const SensorFacts& sensor() const override { return sensor_; }
  Kind kind() const override { return kind_; }
  Result<FastReading> read_fast() override { return FastReading{}; }
  Result<SlowReading> read_slow() override { return SlowReading{}; }
  Result<PowerLimits> power_limits() override { return PowerLimits{}; }
  Result<device::ClockTable> supported_clocks() override { return device::ClockTable{}; }
  Result<std::vector<ComputeProcess>> compute_processes() override { return std::vector<ComputeProcess>{}; }
  CallCost cost() const override { return {}; }

 private:
  GpuIdentity identity_{{"GPU-1"}, "NVIDIA H100", 0, "00000000:1b:00.0"};
  Capabilities capabilities_;
  SensorFacts sensor_;
  Kind kind_;
};

class CuptiProviderTest : public ::testing::Test {
 protected:
  CuptiProviderTest() {
    void* library = dlopen(FAKE_CUPTI, RTLD_NOW | RTLD_LOCAL);
    fake_ = reinterpret_cast<fake::Cupti* (*)()>(dlsym(library, "fake_cupti"))();
    *fake_ = fake::Cupti{};
    root_ = std::filesystem::path(::testing::TempDir()) /
            ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_);
    places_.cuda = FAKE_CUPTI;
    places_.named = FAKE_CUPTI;
    places_.loader = false;
    places_.root = FsRoot(root_);
  }
  ~CuptiProviderTest() override { std::filesystem::remove_all(root_); }

  void write(std::string_view path, std::string_view text) {
    const auto file = FsRoot(root_).path(path);
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  std::unique_ptr<Provider> opened() { return open(gpu_, places_); }
  std::string why_not() { return opened()->availability().why_not; }
  void records(std::size_t count, std::uint64_t ns = 10 * kMs) { fake_->records.assign(count, ns); }

  NamedGpu gpu_;
  fake::Cupti* fake_ = nullptr;
  std::filesystem::path root_;
  Places places_;
};

TEST_F(CuptiProviderTest, a_window_gives_means_of_all_that_fits_one_pass) {
  fake_->values = {{"sm__pipe_tensor_cycles_active_realtime.avg.pct_of_peak_sustained_elapsed", 25},
                   {"sm__inst_executed_realtime.sum.per_second", 3e12},
                   {"sm__cycles_active.sum.per_second", 1.5e12},
                   {"lts__t_sectors.sum.per_second", 6e11},
                   {"lts__average_t_sector_hit_rate_realtime.pct", 75}};
  auto provider = opened();
  ASSERT_TRUE(provider->availability().available) << provider->availability().why_not;
  EXPECT_THAT(provider->features(), Contains(Feature::l2_misses_per_instruction));
  ASSERT_TRUE(provider->begin(TimePoint{0}));
  EXPECT_EQ(fake_->started, 1);
  EXPECT_EQ(fake_->interval, kMs);
  EXPECT_EQ(fake_->trigger, abi::kTriggerTime);
  EXPECT_EQ(fake_->device, 0U);
  records(100);
  const auto counted = provider->end(TimePoint{} + Seconds(1));
  ASSERT_TRUE(counted) << counted.error().what;
  EXPECT_THAT((*counted)[Feature::tensor_active], Optional(DoubleNear(0.25, 1e-9)));
  EXPECT_THAT((*counted)[Feature::sm_active], Optional(DoubleNear(0.5, 1e-9)));
  EXPECT_THAT((*counted)[Feature::instructions_per_cycle], Optional(DoubleNear(2, 1e-9)));
  EXPECT_THAT((*counted)[Feature::l2_hit_fraction], Optional(DoubleNear(0.75, 1e-9)));
  EXPECT_THAT((*counted)[Feature::l2_misses_per_instruction], Optional(DoubleNear(0.05, 1e-9)));
  EXPECT_EQ((*counted)[Feature::l1_hit_fraction], std::nullopt);
  EXPECT_EQ((*counted)[Feature::sm_utilisation], std::nullopt);
  EXPECT_EQ(counted->end, TimePoint{} + Seconds(1));
}

TEST_F(CuptiProviderTest, between_windows_nothing_is_held) {
  auto provider = opened();
  EXPECT_EQ(fake_->enabled, 0);
  for (int window = 0; window < 3; ++window) {
    ASSERT_TRUE(provider->begin(TimePoint{0}));
    EXPECT_EQ(fake_->enabled, 1);
    EXPECT_TRUE(provider->next_due());
    records(10);
    ASSERT_TRUE(provider->end(TimePoint{} + Seconds(0.1)));
    EXPECT_EQ(fake_->enabled, 0);
    EXPECT_EQ(fake_->started, 0);
    EXPECT_EQ(fake_->hosts, 0);
    EXPECT_EQ(provider->next_due(), std::nullopt);
  }
  ASSERT_TRUE(provider->begin(TimePoint{0}));
  provider.reset();
  EXPECT_EQ(fake_->enabled, 0);
  EXPECT_EQ(fake_->started, 0);
}

TEST_F(CuptiProviderTest, records_are_fetched_now_and_then_and_weighed_by_their_length) {
  auto provider = opened();
  ASSERT_TRUE(provider->begin(TimePoint{0}));
  EXPECT_EQ(provider->next_due(), TimePoint{} + Seconds(0.25));
  const std::string metric = "sm__cycles_active.avg.pct_of_peak_sustained_elapsed";
  fake_->values[metric] = 100;
  records(25, 30 * kMs);
  ASSERT_TRUE(provider->poll(TimePoint{} + Seconds(1)));
  EXPECT_TRUE(fake_->records.empty());
  EXPECT_EQ(provider->next_due(), TimePoint{} + Seconds(1.25));
  fake_->values[metric] = 0;
  records(25, 10 * kMs);
  const auto counted = provider->end(TimePoint{} + Seconds(1.25));
  ASSERT_TRUE(counted);
  EXPECT_THAT((*counted)[Feature::sm_active], Optional(DoubleNear(0.75, 1e-9)));
}

TEST_F(CuptiProviderTest, what_needs_a_second_pass_is_left_out_and_the_rest_is_counted) {
  fake_->most_metrics = 3;
  fake_->unknown = {"dram__"};
  auto provider = opened();
  ASSERT_TRUE(provider->availability().available);
  EXPECT_THAT(provider->features(), ::testing::UnorderedElementsAre(
                                        Feature::sm_active, Feature::tensor_active, Feature::dram_active));
  ASSERT_TRUE(provider->begin(TimePoint{0}));
}

TEST_F(CuptiProviderTest, a_chip_without_a_time_trigger_is_sampled_by_its_system_clock) {
  for (const char* chip : {"TU102", "GA100"}) {
    fake_->chip = chip;
    auto provider = opened();
    ASSERT_TRUE(provider->begin(TimePoint{0}));
    EXPECT_EQ(fake_->trigger, abi::kTriggerSystemClock);
  }
}

TEST_F(CuptiProviderTest, a_fraction_of_nothing_is_missing_and_not_zero) {
  fake_->values = {{"lts__average_t_sector_hit_rate_realtime.pct", std::numeric_limits<double>::quiet_NaN()},
                   {"lts__t_sectors.sum.per_second", 0},
                   {"sm__cycles_active.sum.per_second", 0}};
  auto provider = opened();
  ASSERT_TRUE(provider->begin(TimePoint{0}));
  records(5);
  const auto counted = provider->end(TimePoint{} + Seconds(1));
  ASSERT_TRUE(counted);
  EXPECT_EQ((*counted)[Feature::l2_hit_fraction], std::nullopt);
  EXPECT_EQ((*counted)[Feature::instructions_per_cycle], std::nullopt);
  EXPECT_THAT((*counted)[Feature::l2_misses_per_instruction], Optional(DoubleEq(0)));
}

TEST_F(CuptiProviderTest, a_full_buffer_ends_the_window_where_its_records_end) {
  for (const int code : {0, static_cast<int>(abi::kOutOfMemory)}) {
    auto provider = opened();
    ASSERT_TRUE(provider->begin(TimePoint{0}));
    fake_->overflow = code == 0;
    fake_->results["cuptiPmSamplingDecodeData"] = code;
    records(50);
    ASSERT_TRUE(provider->poll(TimePoint{} + Seconds(3)));
    EXPECT_EQ(fake_->enabled, 0);
    EXPECT_EQ(provider->next_due(), std::nullopt);
    const auto counted = provider->end(TimePoint{} + Seconds(9));
    ASSERT_TRUE(counted);
    EXPECT_EQ(counted->end, TimePoint{} + Seconds(0.5));
  }
}

TEST_F(CuptiProviderTest, so_does_a_full_image) {
  auto provider = opened();
  ASSERT_TRUE(provider->begin(TimePoint{0}));
  fake_->room = 30;
  records(50);
  ASSERT_TRUE(provider->poll(TimePoint{} + Seconds(1)));
  EXPECT_EQ(fake_->enabled, 0);
  const auto counted = provider->end(TimePoint{} + Seconds(9));
  ASSERT_TRUE(counted);
  EXPECT_EQ(counted->end, TimePoint{} + Seconds(0.3));
}

TEST_F(CuptiProviderTest, a_failed_fetch_lets_go_of_the_gpu) {
  auto provider = opened();
  ASSERT_TRUE(provider->begin(TimePoint{0}));
  fake_->results["cuptiPmSamplingDecodeData"] = 999;
  const auto polled = provider->poll(TimePoint{} + Seconds(1));
  ASSERT_FALSE(polled);
  EXPECT_THAT(polled.error().what, HasSubstr("GPU-1"));
  EXPECT_EQ(fake_->enabled, 0);
  EXPECT_FALSE(provider->end(TimePoint{} + Seconds(2)));
  fake_->results.clear();
  EXPECT_TRUE(provider->begin(TimePoint{} + Seconds(3)));
}

TEST_F(CuptiProviderTest, what_was_fetched_before_a_failure_tells_of_the_windows_beginning) {
  auto provider = opened();
  ASSERT_TRUE(provider->begin(TimePoint{0}));
  records(50);
  ASSERT_TRUE(provider->poll(TimePoint{} + Seconds(1)));
  fake_->results["cuptiPmSamplingDecodeData"] = 999;
  EXPECT_FALSE(provider->poll(TimePoint{} + Seconds(2)));
  const auto counted = provider->end(TimePoint{} + Seconds(3));
  ASSERT_TRUE(counted);
  EXPECT_EQ(counted->end, TimePoint{} + Seconds(0.5));
}

TEST_F(CuptiProviderTest, a_window_without_a_sample_is_an_error) {
  auto provider = opened();
  ASSERT_TRUE(provider->begin(TimePoint{0}));
  ASSERT_TRUE(provider->poll(TimePoint{} + Seconds(1)));
  records(2, 0);  // as CUPTI gives them when it stops
  const auto counted = provider->end(TimePoint{} + Seconds(1.5));
  ASSERT_FALSE(counted);
  EXPECT_EQ(counted.error().code, ErrorCode::unavailable);
  EXPECT_THAT(counted.error().what, HasSubstr("2 records in 2 calls, 2 of them without a length"));
}

TEST_F(CuptiProviderTest, a_second_window_has_to_wait) {
  auto provider = opened();
  ASSERT_TRUE(provider->begin(TimePoint{0}));
  EXPECT_EQ(provider->begin(TimePoint{1}).error().code, ErrorCode::busy);
  EXPECT_EQ(fake_->enabled, 1);
}

TEST_F(CuptiProviderTest, another_profiler_makes_it_busy_and_the_next_window_may_work) {
  auto provider = opened();
  fake_->results["cuptiPmSamplingEnable"] = abi::kHardwareBusy;
  const auto begun = provider->begin(TimePoint{0});
  ASSERT_FALSE(begun);
  EXPECT_EQ(begun.error().code, ErrorCode::busy);
  EXPECT_THAT(begun.error().hint, HasSubstr("dcgmi profile --pause"));
  fake_->results.clear();
  fake_->results["cuptiPmSamplingStart"] = abi::kInvalidOperation;
  EXPECT_EQ(provider->begin(TimePoint{1}).error().code, ErrorCode::busy);
  EXPECT_EQ(fake_->enabled, 0);
  fake_->results.clear();
  EXPECT_TRUE(provider->begin(TimePoint{2}));
}

TEST_F(CuptiProviderTest, a_missing_right_is_told_apart_from_a_missing_ability) {
  fake_->results["cuptiPmSamplingGetCounterAvailability"] = abi::kInsufficientPrivileges;
  const auto refused = opened();
  EXPECT_FALSE(refused->availability().available);
  EXPECT_TRUE(refused->availability().needs_right);
  EXPECT_THAT(refused->availability().hint, HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
  fake_->results["cuptiPmSamplingGetCounterAvailability"] = abi::kMigDevice;
  EXPECT_FALSE(opened()->availability().needs_right);
  EXPECT_THAT(why_not(), HasSubstr("MIG"));
}

TEST_F(CuptiProviderTest, where_only_administrators_may_count_nothing_is_loaded) {
  places_.cuda = "/nowhere/libcuda.so.1";
  write("/proc/driver/nvidia/params", "Other: 0\nRmProfilingAdminOnly: 1\n");
  write("/proc/thread-self/status", "Name:\tx\nCapEff:\t00000000a80425fb\n");
  const auto provider = opened();
  EXPECT_TRUE(provider->availability().needs_right);
  EXPECT_THAT(provider->availability().why_not, HasSubstr("CAP_SYS_ADMIN"));
  write("/proc/thread-self/status", "Name:\tx\nCapEff:\t000001ffffffffff\n");
  EXPECT_THAT(why_not(), HasSubstr("/nowhere/libcuda.so.1"));
  write("/proc/thread-self/status", "CapEff:\t0\n");
  write("/proc/driver/nvidia/params", "RmProfilingAdminOnly: 0\n");
  EXPECT_THAT(why_not(), HasSubstr("/nowhere/libcuda.so.1"));
}

TEST_F(CuptiProviderTest, versions_whose_structures_were_not_compared_are_left_alone) {
  for (const std::uint32_t version : {24U, 25U, 29U, 129999U, 130600U}) {
    fake_->version = version;
    EXPECT_THAT(why_not(), HasSubstr("API version " + std::to_string(version)));
  }
  for (const std::uint32_t version : {26U, 28U, 130000U, 130599U}) {
    fake_->version = version;
    EXPECT_EQ(why_not(), "");
  }
}

TEST_F(CuptiProviderTest, the_newest_cupti_that_the_driver_runs_is_taken) {
  const auto folder = root_ / "lib" / "python3.11" / "site-packages" / "nvidia" / "cu13" / "lib";
  std::filesystem::create_directories(folder);
  std::filesystem::create_symlink(FAKE_CUPTI, folder / "libcupti.so.13");
  places_.named.clear();
  places_.toolkits.clear();
  places_.environments = {root_.string()};
  EXPECT_EQ(why_not(), "");
  fake_->driver_version = 12080;
  EXPECT_THAT(why_not(), HasSubstr("no CUPTI of CUDA 12 "));
  std::filesystem::create_symlink(FAKE_CUPTI, folder / "libcupti.so.12");
  EXPECT_EQ(why_not(), "");
}

TEST_F(CuptiProviderTest, the_gpu_is_found_by_its_place_and_not_by_its_index) {
  fake_->pci_bus_ids = {"0000:05:00.0", "0000:1b:00.0"};
  auto provider = opened();
  ASSERT_TRUE(provider->begin(TimePoint{0}));
  EXPECT_EQ(fake_->device, 1U);
  provider.reset();
  fake_->pci_bus_ids = {"0000:05:00.0"};
  EXPECT_THAT(opened()->availability().hint, HasSubstr("CUDA_VISIBLE_DEVICES"));
}

TEST_F(CuptiProviderTest, what_is_no_hardware_loads_nothing) {
  NamedGpu simulated(Kind::modelled);
  places_.cuda = "/nowhere/libcuda.so.1";
  const auto provider = open(simulated, places_);
  EXPECT_FALSE(provider->availability().available);
  EXPECT_THAT(provider->availability().why_not, Not(HasSubstr("/nowhere")));
  EXPECT_FALSE(provider->begin(TimePoint{0}));
}

TEST_F(CuptiProviderTest, each_thing_that_is_missing_is_named) {
  fake_->cuda_init = 100;
  EXPECT_THAT(why_not(), HasSubstr("cuInit answers 100"));
  fake_->cuda_init = 0;
  places_.named = "/nowhere/libcupti.so.13";
  EXPECT_THAT(why_not(), HasSubstr("/nowhere/libcupti.so.13 cannot be loaded"));
  places_.named = FAKE_CUPTI;
  fake_->results["cuptiProfilerInitialize"] = abi::kNotInitialized;
  EXPECT_THAT(why_not(), HasSubstr("libnvperf_host.so"));
  fake_->results.clear();
  fake_->results["cuptiProfilerHostInitialize"] = abi::kNotSupported;
  EXPECT_THAT(why_not(), HasSubstr("no PM sampling"));
  fake_->results.clear();
  fake_->most_metrics = 0;
  EXPECT_THAT(why_not(), HasSubstr("counts nothing of use on chip GH100"));
}

TEST_F(CuptiProviderTest, calls_are_counted) {
  auto provider = opened();
  const auto before = provider->cost().calls;
  EXPECT_GT(before, 0U);
  ASSERT_TRUE(provider->begin(TimePoint{0}));
  EXPECT_GT(provider->cost().calls, before);
}

}  // namespace
}  // namespace rubato::feature::cupti
