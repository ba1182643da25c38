#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "feature/dcgm/dcgm.h"
#include "feature_dcgm/fake_dcgm.h"

namespace rubato::feature::dcgm {
namespace {

using ::testing::DoubleNear;
using ::testing::HasSubstr;
using ::testing::Optional;

constexpr std::uint16_t kSm = 1002;
constexpr std::uint16_t kTensor = 1004;
constexpr std::uint16_t kPcieTx = 1009;

class NamedGpu final : public device::Gpu {
 public:
  explicit NamedGpu(std::string uuid, Kind kind = Kind::measured) : kind_(kind) {
    identity_ = {{std::move(uuid)}, "NVIDIA A100", 0, "00000000:1B:00.0"};
  }
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
  GpuIdentity identity_;
  Capabilities capabilities_;
  SensorFacts sensor_;
  Kind kind_;
};

TimePoint at(double seconds) {
  return TimePoint{} + Seconds(seconds);
}

class DcgmProviderTest : public ::testing::Test {
 protected:
  DcgmProviderTest() {
    void* library = dlopen(FAKE_DCGM, RTLD_NOW | RTLD_LOCAL);
    fake_ = reinterpret_cast<fake::Dcgm* (*)()>(dlsym(library, "fake_dcgm"))();
    *fake_ = fake::Dcgm{};
    places_.libraries = {FAKE_DCGM};
    collected(kSm, 0, 0.5);
  }
  /// `seconds`: the engine's clock, which has nothing to do with ours.
  void collected(std::uint16_t field, double seconds, double value) {
    fake_->fields[field] = {.at_us = us(seconds), .value = value};
  }
  void collected_whole(std::uint16_t field, double seconds, std::int64_t value) {
    fake_->fields[field] = {.at_us = us(seconds), .integer = value, .type = 'i'};
  }
  static std::int64_t us(double seconds) {
    return 1'700'000'000'000'000 + static_cast<std::int64_t>(seconds * 1e6);
  }
  std::unique_ptr<Provider> opened() { return open(gpu_, places_); }
  std::string why_not() { return opened()->availability().why_not; }

  NamedGpu gpu_{"GPU-1"};
  fake::Dcgm* fake_ = nullptr;
  Places places_;
};

TEST_F(DcgmProviderTest, a_window_gives_the_mean_of_the_updates_that_lie_in_it) {
  collected_whole(kPcieTx, 0, 9);
  auto provider = opened();
  ASSERT_TRUE(provider->availability().available) << provider->availability().why_not;
  EXPECT_THAT(provider->features(), ::testing::ElementsAre(Feature::sm_active, Feature::pcie_tx_bytes_per_s));
  ASSERT_TRUE(provider->begin(at(10)));
  collected(kSm, 1, 0.9);  // of a second that began before the window
  collected_whole(kPcieTx, 1, 1'000'000'000'000);
  ASSERT_TRUE(provider->poll(at(11)));
  collected(kSm, 2, 0.2);
  collected_whole(kPcieTx, 2, 3'000'000'000);
  ASSERT_TRUE(provider->poll(at(12)));
  collected(kSm, 3, 0.4);
  const auto counted = provider->end(at(13));
  ASSERT_TRUE(counted) << counted.error().what;
  EXPECT_THAT((*counted)[Feature::sm_active], Optional(DoubleNear(0.3, 1e-9)));
  EXPECT_THAT((*counted)[Feature::pcie_tx_bytes_per_s], Optional(DoubleNear(3e9, 1)));
  EXPECT_EQ((*counted)[Feature::tensor_active], std::nullopt);
  EXPECT_EQ(counted->begin, at(10));
  EXPECT_EQ(counted->end, at(13));
}

TEST_F(DcgmProviderTest, a_value_older_than_the_window_is_missing) {
  collected(kTensor, 0, 0.8);
  auto provider = opened();
  ASSERT_TRUE(provider->begin(at(0)));
  for (int second = 1; second < 5; ++second) {
    collected(kSm, second, 0.5);
    ASSERT_TRUE(provider->poll(at(second)));
  }
  const auto counted = provider->end(at(5));
  ASSERT_TRUE(counted);
  EXPECT_TRUE((*counted)[Feature::sm_active]);
  EXPECT_EQ((*counted)[Feature::tensor_active], std::nullopt);
}

TEST_F(DcgmProviderTest, a_window_shorter_than_two_updates_says_so) {
  auto provider = opened();
  ASSERT_TRUE(provider->begin(at(0)));
  collected(kSm, 30, 0.5);
  ASSERT_TRUE(provider->poll(at(10)));
  const auto counted = provider->end(at(20));
  ASSERT_FALSE(counted);
  EXPECT_EQ(counted.error().code, ErrorCode::unavailable);
  EXPECT_THAT(counted.error().hint, HasSubstr("dcgmi dmon -d 1000"));
  EXPECT_TRUE(provider->begin(at(21)));
}

TEST_F(DcgmProviderTest, a_missed_update_is_stood_for_by_the_last) {
  auto provider = opened();
  ASSERT_TRUE(provider->begin(at(0)));
  collected(kSm, 1, 0);
  ASSERT_TRUE(provider->poll(at(1)));
  collected(kSm, 2, 0.2);
  ASSERT_TRUE(provider->poll(at(2)));
  collected(kSm, 5, 0.6);
  const auto counted = provider->end(at(5));
  ASSERT_TRUE(counted);
  EXPECT_THAT((*counted)[Feature::sm_active], Optional(DoubleNear(0.5, 1e-9)));
}

TEST_F(DcgmProviderTest, blanks_are_missing) {
  for (const double blank :
       {abi::kBlankDouble, abi::kBlankDouble + 3, std::numeric_limits<double>::quiet_NaN()}) {
    collected(kSm, 0, blank);
    EXPECT_FALSE(opened()->availability().available);
  }
  collected_whole(kSm, 0, abi::kBlankInteger + 2);
  EXPECT_FALSE(opened()->availability().available);
  collected_whole(kSm, 0, 1);
  EXPECT_TRUE(opened()->availability().available);
}

TEST_F(DcgmProviderTest, where_nobody_watches_rubato_does_not_begin_to) {
  fake_->fields.clear();
  const auto provider = opened();
  EXPECT_EQ(provider->availability().why_not, "DCGM runs but collects no profiling fields");
  EXPECT_THAT(provider->availability().hint, HasSubstr("dcgmi dmon -e 1002,"));
  EXPECT_FALSE(provider->begin(at(0)));
  EXPECT_EQ(fake_->live_questions, 0);
  EXPECT_EQ(fake_->connections, 0);
}

TEST_F(DcgmProviderTest, paused_collecting_is_told_apart) {
  fake_->fields[kSm].status = abi::kPaused;
  EXPECT_THAT(opened()->availability().hint, HasSubstr("dcgmi profile --resume"));
}

TEST_F(DcgmProviderTest, the_gpu_is_found_by_its_uuid) {
  NamedGpu other("GPU-9");
  EXPECT_THAT(open(other, places_)->availability().why_not, HasSubstr("is GPU-9"));
  NamedGpu first("GPU-0");  // the engine collects nothing of it
  EXPECT_FALSE(open(first, places_)->availability().available);
}

TEST_F(DcgmProviderTest, what_is_missing_is_named) {
  places_.libraries = {"/nowhere/libdcgm.so.4"};
  EXPECT_THAT(why_not(), HasSubstr("not installed"));
  places_.libraries = {"/nowhere/libdcgm.so.4", FAKE_DCGM};
  EXPECT_EQ(why_not(), "");
  fake_->connect = -21;
  EXPECT_THAT(why_not(), HasSubstr("no DCGM engine answers at 127.0.0.1"));
  fake_->connect = abi::kVersionMismatch;
  EXPECT_THAT(why_not(), HasSubstr("another version"));
  fake_->connect = 0;
  fake_->answer = -3;
  EXPECT_FALSE(opened()->availability().available);
}

TEST_F(DcgmProviderTest, an_engine_can_listen_elsewhere) {
  places_.address = "/run/nv-hostengine";
  EXPECT_EQ(why_not(), "");
  EXPECT_TRUE(fake_->unix_socket);
  places_.address = "127.0.0.1:5577";
  EXPECT_EQ(why_not(), "");
  EXPECT_FALSE(fake_->unix_socket);
  EXPECT_EQ(fake_->address, "127.0.0.1:5577");
}

TEST_F(DcgmProviderTest, an_engine_that_dies_in_a_window_is_an_error_and_no_value) {
  auto provider = opened();
  ASSERT_TRUE(provider->begin(at(0)));
  fake_->answer = -21;
  EXPECT_FALSE(provider->poll(at(1)));
  const auto counted = provider->end(at(2));
  ASSERT_FALSE(counted);
  EXPECT_THAT(counted.error().what, HasSubstr("GPU-1"));
}

TEST_F(DcgmProviderTest, one_window_at_a_time_and_questions_in_it_alone) {
  auto provider = opened();
  EXPECT_EQ(provider->next_due(), std::nullopt);
  ASSERT_TRUE(provider->begin(at(0)));
  EXPECT_EQ(provider->begin(at(0)).error().code, ErrorCode::busy);
  EXPECT_EQ(provider->next_due(), at(1));
  const auto before = provider->cost().calls;
  ASSERT_TRUE(provider->poll(at(0.5)));
  EXPECT_EQ(provider->cost().calls, before);
  ASSERT_TRUE(provider->poll(at(1)));
  EXPECT_EQ(provider->cost().calls, before + 1);
  EXPECT_FALSE(provider->end(at(1.5)));
  EXPECT_EQ(provider->end(at(2)).error().code, ErrorCode::conflict);
}

TEST_F(DcgmProviderTest, its_connection_ends_with_it) {
  auto provider = opened();
  auto second = opened();
  EXPECT_EQ(fake_->connections, 2);
  provider.reset();
  EXPECT_EQ(fake_->connections, 1);
  EXPECT_TRUE(second->begin(at(0)));
}

TEST_F(DcgmProviderTest, what_is_no_hardware_asks_nobody) {
  NamedGpu simulated("GPU-1", Kind::modelled);
  EXPECT_FALSE(open(simulated, places_)->availability().available);
  EXPECT_EQ(fake_->address, "");
}

}  // namespace
}  // namespace rubato::feature::dcgm
