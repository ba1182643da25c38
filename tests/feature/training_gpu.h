// A simulated GPU at work, moved by hand; it can be told to pass for hardware, or to tell nothing.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "device/sim/gpu_view.h"
#include "device/sim/world.h"

namespace rubato::feature {

enum class Guise { simulated, hardware, mute };

class TrainingGpu final : public device::Gpu {
 public:
  explicit TrainingGpu(Guise guise) : guise_(guise) {
    const std::vector<std::string> profiles{"v100"};
    world_ = device::sim::SimWorld::create_private(profiles, {}, now_).value();
    inner_ = device::sim::make_gpu(world_, 0);
    can_ = guise == Guise::mute ? nothing() : inner_->capabilities();
    const device::sim::Segment iteration{.compute_s = 0.05, .memory_s = 0.02, .fixed_s = 0.05};
    context_ = world_->add_context(0, 1, 1 << 20, std::span(&iteration, 1), now_).value();
  }

  /// The clock goes on, with the queue kept full.
  void go_on(Seconds span) {
    const TimePoint end = now_ + span;
    while (now_ < end) {
      now_ = std::min(end, now_ + 50_ms);
      while (world_->submit(0, context_, 1.0, now_)) {
      }
    }
  }
  [[nodiscard]] TimePoint now() const { return now_; }
  void refuse_counters(std::optional<ErrorCode> code) { refusal_ = code; }

  const GpuIdentity& identity() const override { return inner_->identity(); }
  const Capabilities& capabilities() const override { return can_; }
  const SensorFacts& sensor() const override { return inner_->sensor(); }
  Kind kind() const override { return guise_ == Guise::hardware ? Kind::measured : Kind::modelled; }
  Result<FastReading> read_fast() override { return inner_->read_fast(); }
  Result<SlowReading> read_slow() override { return inner_->read_slow(); }
  Result<PowerLimits> power_limits() override { return inner_->power_limits(); }
  Result<device::ClockTable> supported_clocks() override { return inner_->supported_clocks(); }
  Result<std::vector<ComputeProcess>> compute_processes() override { return inner_->compute_processes(); }
  Result<FeatureVector> read_counters() override {
    if (refusal_) return fail(*refusal_, "refused by the test");
    return inner_->read_counters();
  }
  CallCost cost() const override { return inner_->cost(); }

 private:
  static Capabilities nothing() {
    Capabilities out;
    out.read_counters = out.read_utilisation = out.read_clocks = Capability::no("nothing can be read here");
    return out;
  }

  Guise guise_;
  TimePoint now_{1'000'000'000};
  std::shared_ptr<device::sim::SimWorld> world_;
  std::unique_ptr<device::Gpu> inner_;
  Capabilities can_;
  device::sim::ContextId context_;
  std::optional<ErrorCode> refusal_;
};

}  // namespace rubato::feature
