// What the page says of each GPU: its latest readings, and its energy since the exporter began as a line that
// never falls. Passive, like the sampler below it, and reads only.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "core/capability.h"
#include "core/gpu_id.h"
#include "core/kind.h"
#include "core/sample.h"
#include "core/setting.h"
#include "core/window.h"
#include "device/gpu.h"
#include "measure/energy_meter.h"
#include "measure/sampler.h"

namespace rubato::exporter {

/// Plain data: what one GPU was when it was last read.
struct GpuState {
  GpuIdentity identity;
  Kind kind = Kind::measured;
  SensorFacts sensor;
  std::optional<PowerLimits> limits;  // as they were at the start; what changes is in `slow`
  std::optional<FastReading> fast;
  std::optional<SlowReading> slow;
  std::optional<EnergyWindow> energy;  // since the first reading; its energy never falls
  measure::CounterFaults faults;
  Seconds silence;        // of the silences that are over
  Seconds stale_after{};  // a reading older than this is none

  [[nodiscard]] bool silent(TimePoint now) const { return !fast || now - fast->at > stale_after; }
};

struct WatchedGpu {
  device::Gpu* gpu = nullptr;
  SensorFacts sensor;
};

class GpuWatch final : public measure::SampleSink {
 public:
  /// The GPUs must outlive the watch. One that counts energy itself is read once a second; one that does not,
  /// as often as its sensor has something new.
  GpuWatch(const std::vector<WatchedGpu>& gpus, TimePoint begin);

  [[nodiscard]] TimePoint next_due() const { return sampler_.next_due(); }
  void step(TimePoint now);

  [[nodiscard]] std::vector<GpuState> states() const;
  [[nodiscard]] CallCost cost() const { return sampler_.cost(); }

  /// Position of a GPU; absent: it is not watched.
  [[nodiscard]] std::optional<std::size_t> find(const GpuId& gpu) const;
  [[nodiscard]] const GpuState& state(std::size_t gpu) const { return units_[gpu].state; }
  /// From `begin` to the latest reading. Absent where `begin` lies before the first one, or more than a
  /// minute before it was first asked for.
  [[nodiscard]] std::optional<EnergyWindow> energy_since(std::size_t gpu, TimePoint begin);
  /// Nobody will ask for energy since then again.
  void forget_since(std::size_t gpu, TimePoint begin);
  [[nodiscard]] Result<std::vector<ComputeProcess>> processes(std::size_t gpu) {
    return units_[gpu].gpu->compute_processes();
  }

  void on_fast(std::size_t gpu, const FastReading& reading) override;
  void on_slow(std::size_t gpu, const SlowReading& reading) override;
  void on_gap(std::size_t gpu, TimePoint begin, TimePoint end, const std::string& why) override;

 private:
  struct Unit {
    device::Gpu* gpu = nullptr;
    measure::EnergyMeter meter;
    std::optional<TimePoint> first;
    GpuState state;
  };
  void measure(Unit& unit) const;

  std::vector<Unit> units_;
  measure::Sampler sampler_;
};

}  // namespace rubato::exporter
