// Violation times, recent samples, and what a process used.
#include <unistd.h>

#include "simgpu/nvml/client_abi.h"
#include "simgpu_nvml/stand_in.h"

namespace rubato::simgpu {
namespace {

using device::sim::Segment;
using device::sim::SimWorld;
using GetSamples = abi::Return(abi::Device, int, unsigned long long, int*, unsigned*, client::SampleValue*);
using GetProcessUtilization = abi::Return(abi::Device, client::ProcessUtilization*, unsigned*,
                                          unsigned long long);

class Counters : public StandIn {
 protected:
  /// Work for the first GPU, as a training of this process, for a hundred times as long as is waited for
  /// here.
  void train(Seconds waited) {
    world_ = std::move(*SimWorld::open(folder_ / "gpu.world"));
    const std::array<Segment, 1> iteration = {Segment{.compute_s = waited.value() * 100}};
    const TimePoint now = world_->clock()->now();
    const auto context = world_->add_context(0, ::getpid(), 1'000'000, iteration, now);
    ASSERT_TRUE(context);
    ASSERT_TRUE(world_->submit(0, *context, 1.0, now));
    sleep_until(*world_->clock(), now + waited);
  }
  [[nodiscard]] abi::ViolationTime violation(int policy) const {
    abi::ViolationTime time{};
    EXPECT_EQ(call<abi::DeviceViolation>("nvmlDeviceGetViolationStatus", gpu(), policy, &time),
              abi::kSuccess);
    return time;
  }
  std::unique_ptr<SimWorld> world_;
};

TEST_F(Counters, TimeUnderThePowerLimitIsCountedAndNoOtherCause) {
  scenario(R"({"rights": "owner", "rate": 1000, "found": {"power_limit_w": 100}})");
  init();
  const auto before = violation(abi::kPerfPolicyPower);
  train(20_s);
  const auto after = violation(abi::kPerfPolicyPower);
  // A V100 with a 100 W limit cannot run full compute at its highest clock.
  EXPECT_GT(after.violation_ns - before.violation_ns, 5'000'000'000U);
  EXPECT_GE(after.reference_us, before.reference_us);
  EXPECT_EQ(violation(abi::kPerfPolicyThermal).violation_ns, 0U);
  EXPECT_GE(violation(client::kPolicyTotalAppClocks).violation_ns, after.violation_ns);
  abi::ViolationTime time{};
  EXPECT_EQ(call<abi::DeviceViolation>("nvmlDeviceGetViolationStatus", gpu(), 3, &time), abi::kNotSupported);
  EXPECT_EQ(call<abi::DeviceViolation>("nvmlDeviceGetViolationStatus", gpu(), 7, &time),
            abi::kInvalidArgument);
}

TEST_F(Counters, ASampleIsGivenOnceAndTheNextWhenTheSensorHasOne) {
  init();  // at the wall's own rate: 20 ms from one update of the sensor to the next
  int type = -1;
  unsigned count = 0;
  ASSERT_EQ(call<GetSamples>("nvmlDeviceGetSamples", gpu(), client::kSamplesPower, 0ULL, &type, &count,
                             static_cast<client::SampleValue*>(nullptr)),
            abi::kSuccess);
  ASSERT_EQ(count, 1U);
  EXPECT_EQ(type, static_cast<int>(abi::ValueType::unsigned_int));
  client::SampleValue first{};
  ASSERT_EQ(
      call<GetSamples>("nvmlDeviceGetSamples", gpu(), client::kSamplesPower, 0ULL, &type, &count, &first),
      abi::kSuccess);
  EXPECT_GT(first.value.unsigned_int, 1000U);
  abi::Return code = abi::kNotFound;
  client::SampleValue next{};
  while (code == abi::kNotFound)  // until the sensor is refreshed
    code = call<GetSamples>("nvmlDeviceGetSamples", gpu(), client::kSamplesPower, first.timestamp_us, &type,
                            &count, &next);
  EXPECT_EQ(code, abi::kSuccess);
  EXPECT_GT(next.timestamp_us, first.timestamp_us);
  EXPECT_EQ(call<GetSamples>("nvmlDeviceGetSamples", gpu(), client::kSamplesModulePower, 0ULL, &type, &count,
                             &next),
            abi::kNotSupported);
  EXPECT_EQ(call<GetSamples>("nvmlDeviceGetSamples", gpu(), 10, 0ULL, &type, &count, &next),
            abi::kInvalidArgument);
}

TEST_F(Counters, AProcessAloneOnTheGpuHasTheGpusUtilisationAndOneOfSeveralHasNone) {
  scenario(R"({"rights": "owner", "rate": 1000})");
  init();
  client::ProcessUtilization row{};
  unsigned count = 1;
  EXPECT_EQ(call<GetProcessUtilization>("nvmlDeviceGetProcessUtilization", gpu(), &row, &count, 0ULL),
            abi::kNotFound);
  train(20_s);
  count = 1;
  ASSERT_EQ(call<GetProcessUtilization>("nvmlDeviceGetProcessUtilization", gpu(), &row, &count, 0ULL),
            abi::kSuccess);
  EXPECT_EQ(row.pid, static_cast<unsigned>(::getpid()));
  EXPECT_GT(row.sm, 90U);
  const std::array<Segment, 1> iteration = {Segment{.compute_s = 0.1}};
  ASSERT_TRUE(world_->add_context(0, ::getppid(), 1000, iteration, world_->clock()->now()));
  count = 1;
  EXPECT_EQ(call<GetProcessUtilization>("nvmlDeviceGetProcessUtilization", gpu(), &row, &count, 0ULL),
            abi::kNotSupported);
}

}  // namespace
}  // namespace rubato::simgpu
