// Energy of named stretches that somebody opens and closes while a set of GPUs is read: what a program asks
// for that measures itself. Passive, like the sampler.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "core/capability.h"
#include "core/gpu_id.h"
#include "core/kind.h"
#include "core/sample.h"
#include "core/window.h"
#include "device/gpu.h"
#include "measure/energy_meter.h"
#include "measure/sampler.h"

namespace rubato::measure {

struct ClosedWindow {
  struct OfGpu {
    GpuIdentity identity;
    std::optional<EnergyWindow> energy;
    std::string why_missing;  // where there is none
  };
  std::string name;
  TimePoint begin;
  TimePoint end;
  std::vector<OfGpu> gpus;
};

/// One GPU at one moment.
struct GpuReadings {
  GpuIdentity identity;
  Kind kind = Kind::measured;
  std::optional<FastReading> fast;
  std::optional<SlowReading> slow;
  std::string why_missing;  // where one of them is not there
};

class WindowBook final : public SampleSink {
 public:
  /// The GPUs must outlive the book; `sensors`: what is known of each, in their order.
  WindowBook(std::vector<device::Gpu*> gpus, const std::vector<SensorFacts>& sensors, TimePoint begin);

  [[nodiscard]] TimePoint next_due() const { return sampler_.next_due(); }
  void step(TimePoint now);

  /// Windows may overlap and nest. conflict: one of this name is open.
  [[nodiscard]] Status begin(const std::string& name, TimePoint now);
  /// not_found: none of this name is open.
  [[nodiscard]] Result<ClosedWindow> end(const std::string& name, TimePoint now);

  /// Reads each GPU once.
  [[nodiscard]] std::vector<GpuReadings> readings();

  void on_fast(std::size_t gpu, const FastReading& reading) override;
  void on_slow(std::size_t, const SlowReading&) override {}
  void on_gap(std::size_t, TimePoint, TimePoint, const std::string&) override {}

 private:
  struct Unit {
    device::Gpu* gpu = nullptr;
    EnergyMeter meter;
  };
  /// An edge lies where a reading lies, else it would be guessed from the neighbours.
  void read_edge();

  std::vector<Unit> units_;
  Sampler sampler_;
  std::map<std::string, TimePoint> open_;
};

}  // namespace rubato::measure
