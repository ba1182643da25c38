// A GPU that draws what the test says, in virtual time.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "device/gpu.h"

namespace rubato::exporter::testing_data {

class FakeGpu final : public device::Gpu {
 public:
  explicit FakeGpu(const VirtualClock& clock, std::string uuid = "GPU-51000000", bool counts = true)
      : clock_(clock), last_(clock.now()) {
    identity_ = {{std::move(uuid)}, "Tesla V100-PCIE-16GB", 3, "00000000:1B:00.0"};
    facts_ = {.update_period = 100_ms, .calibration_band = 0.05, .calibration_floor = 20_W, .source = "made"};
    if (counts) {
      capabilities_.read_energy_counter = Capability::yes();
      facts_.counter_period = 100_ms;
    }
    slow.sm_clock = 1380_MHz;
    slow.memory_clock = 877_MHz;
    slow.sm_utilisation = 0.97;
    slow.memory_utilisation = 0.41;
    slow.temperature = Celsius(58);
    slow.limiter = LimiterReasons{.power_cap = true};
    slow.requested_limit = 150_W;
    slow.enforced_limit = 150_W;
    slow.performance_state = 0;
    slow.limited = {.power_cap = 12.5_s, .thermal = 0_s};
  }

  // What the test may change at any time; the energy is that of the power so far.
  Watts power = 100_W;
  bool silent = false;
  SlowReading slow;
  std::vector<ComputeProcess> here;

  void draw(Watts from_now_on) {
    advance();
    power = from_now_on;
  }
  void load_driver_again() {
    advance();
    counter_ = Joules(0);
  }

  const GpuIdentity& identity() const override { return identity_; }
  const Capabilities& capabilities() const override { return capabilities_; }
  const SensorFacts& sensor() const override { return facts_; }
  Kind kind() const override { return Kind::modelled; }
  Result<FastReading> read_fast() override {
    ++calls_;
    if (silent) return fail(ErrorCode::device_lost, "the GPU has fallen off the bus");
    advance();
    FastReading reading{.at = clock_.now(), .power = power};
    if (capabilities_.read_energy_counter.available) reading.energy_counter = counter_;
    return reading;
  }
  Result<SlowReading> read_slow() override {
    ++calls_;
    if (silent) return fail(ErrorCode::device_lost, "the GPU has fallen off the bus");
    SlowReading reading = slow;
    reading.at = clock_.now();
    return reading;
  }
  Result<PowerLimits> power_limits() override { return PowerLimits{100_W, 250_W, 250_W, 150_W, 150_W}; }
  Result<device::ClockTable> supported_clocks() override { return fail(ErrorCode::not_supported, "none"); }
  Result<std::vector<ComputeProcess>> compute_processes() override { return here; }
  CallCost cost() const override { return {calls_, Seconds(1e-3) * static_cast<double>(calls_)}; }

 private:
  void advance() {
    counter_ += power * (clock_.now() - last_);
    last_ = clock_.now();
  }

  const VirtualClock& clock_;
  GpuIdentity identity_;
  Capabilities capabilities_;
  SensorFacts facts_;
  TimePoint last_;
  Joules counter_{1000};
  std::uint64_t calls_ = 0;
};

}  // namespace rubato::exporter::testing_data
