// Performance monitors: only what the physics knows, only on chips that have them.
#include <unistd.h>

#include "simgpu_nvml/stand_in.h"

namespace rubato::simgpu {
namespace {

using device::sim::Segment;
using device::sim::SimWorld;

class Monitors : public StandIn {
 protected:
  void open(const char* boards) {
    profiles(boards);
    scenario(R"({"rights": "owner", "rate": 1000})");
    init();
  }
  [[nodiscard]] unsigned supported(unsigned index) const {
    abi::GpmSupport support{.version = abi::kGpmSupportVersion, .supported = 7};
    EXPECT_EQ(call<abi::GpmQuery>("nvmlGpmQueryDeviceSupport", gpu(index), &support), abi::kSuccess);
    return support.supported;
  }
  [[nodiscard]] abi::GpmSample sample() const {
    abi::GpmSample out = nullptr;
    EXPECT_EQ(call<abi::GpmAlloc>("nvmlGpmSampleAlloc", &out), abi::kSuccess);
    return out;
  }
  [[nodiscard]] abi::Return take(abi::GpmSample into, unsigned index = 0) const {
    return call<abi::GpmTake>("nvmlGpmSampleGet", gpu(index), into);
  }
  [[nodiscard]] abi::Return ask(abi::GpmSample earlier, abi::GpmSample later,
                                std::initializer_list<unsigned> ids) {
    request_ = std::make_unique<abi::GpmMetricsGet>();
    request_->version = abi::kGpmMetricsGetVersion;
    request_->earlier = earlier;
    request_->later = later;
    for (const unsigned id : ids) request_->metrics[request_->count++].id = id;
    return call<abi::GpmMetrics>("nvmlGpmMetricsGet", request_.get());
  }
  /// Computes, without a byte of memory traffic, for longer than is looked at.
  void compute_only() {
    world_ = std::move(*SimWorld::open(folder_ / "gpu.world"));
    const std::array<Segment, 1> iteration = {Segment{.compute_s = 1}};
    const TimePoint now = world_->clock()->now();
    const auto context = world_->add_context(0, ::getpid(), 1'000'000, iteration, now);
    ASSERT_TRUE(context);
    ASSERT_TRUE(world_->submit(0, *context, 900, now));
  }
  std::unique_ptr<SimWorld> world_;
  std::unique_ptr<abi::GpmMetricsGet> request_;
};

TEST_F(Monitors, HopperHasThemAndOlderBoardsHaveNot) {
  open("h100,a100,gh200-480gb");
  EXPECT_EQ(supported(0), 1U);
  EXPECT_EQ(supported(1), 0U);
  EXPECT_EQ(supported(2), 1U);
  EXPECT_EQ(take(sample(), 1), abi::kNotSupported);
}

TEST_F(Monitors, ADriverOlderThanTheyAreHasNone) {
  ::setenv("RUBATO_SIM_DRIVER", "515.65.01", 1);
  open("h100");
  EXPECT_EQ(supported(0), 0U);
}

TEST_F(Monitors, TellTheActivityOfTheTimeBetweenTwoSamples) {
  open("h100");
  compute_only();
  const auto earlier = sample();
  const auto later = sample();
  ASSERT_EQ(take(earlier), abi::kSuccess);
  sleep_until(*world_->clock(), world_->clock()->now() + 2_s);
  ASSERT_EQ(take(later), abi::kSuccess);
  ASSERT_EQ(ask(earlier, later, {abi::kGpmSmActive, abi::kGpmDram, abi::kGpmTensor}), abi::kSuccess);
  EXPECT_EQ(request_->metrics[0].result, abi::kSuccess);
  EXPECT_NEAR(request_->metrics[0].value, 100, 0.1);
  EXPECT_EQ(request_->metrics[1].value, 0);
  EXPECT_EQ(request_->metrics[2].result, abi::kNotSupported) << "no simulated workload says which pipe works";
}

TEST_F(Monitors, SamplesThatCannotBeComparedAreRefused) {
  open("h100,h100");
  const auto first = sample();
  const auto other = sample();
  EXPECT_EQ(ask(first, other, {abi::kGpmDram}), abi::kInvalidArgument) << "never filled";
  ASSERT_EQ(take(first, 0), abi::kSuccess);
  ASSERT_EQ(take(other, 1), abi::kSuccess);
  EXPECT_EQ(ask(first, other, {abi::kGpmDram}), abi::kInvalidArgument) << "of two GPUs";
  EXPECT_EQ(ask(first, first, {abi::kGpmDram}), abi::kInvalidArgument) << "no time between";
}

TEST_F(Monitors, AFreedSampleIsUnknown) {
  open("h100");
  const auto gone = sample();
  ASSERT_EQ(call<abi::GpmFree>("nvmlGpmSampleFree", gone), abi::kSuccess);
  EXPECT_EQ(call<abi::GpmFree>("nvmlGpmSampleFree", gone), abi::kInvalidArgument);
  EXPECT_EQ(take(gone), abi::kInvalidArgument);
}

TEST_F(Monitors, AFaultOfTheWorldIsTheDriversAnswer) {
  profiles("h100");
  scenario(R"({"faults": [{"call": "read_counters", "effect": "error", "error": "no_permission"}]})");
  init();
  EXPECT_EQ(take(sample()), abi::kNoPermission);
}

}  // namespace
}  // namespace rubato::simgpu
