// One GPU read through NVML. The fast tick is a single driver call wherever the driver allows it.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/fs_root.h"
#include "device/gpu.h"
#include "device/nvml/device_calls.h"
#include "device/nvml/gpm.h"
#include "device/nvml/probe.h"

namespace rubato::device::nvml {

/// What a backend knows about a GPU before anybody opens it.
struct Handle {
  std::shared_ptr<const Library> library;
  abi::Device device = nullptr;
  GpuIdentity identity;
  std::shared_ptr<const Clock> clock;
  Kind kind = Kind::measured;
  FsRoot root{};  // where processes are looked up
};

class NvmlGpu final : public Gpu {
 public:
  NvmlGpu(Handle handle, DeviceCalls calls, Probed probed, SensorFacts sensor);

  [[nodiscard]] const GpuIdentity& identity() const override { return handle_.identity; }
  [[nodiscard]] const Capabilities& capabilities() const override { return probed_.capabilities; }
  [[nodiscard]] const SensorFacts& sensor() const override { return sensor_; }
  [[nodiscard]] Kind kind() const override { return handle_.kind; }
  [[nodiscard]] Result<FastReading> read_fast() override;
  [[nodiscard]] Result<SlowReading> read_slow() override;
  [[nodiscard]] Result<ClockReading> read_clocks() override;
  [[nodiscard]] Result<PowerLimits> power_limits() override;
  [[nodiscard]] Result<ClockTable> supported_clocks() override;
  [[nodiscard]] Result<ApplicationClockReading> application_clocks() override;
  /// Clients of a multi-process server (MPS) too, each once, and then without the server itself.
  [[nodiscard]] Result<std::vector<ComputeProcess>> compute_processes() override;
  [[nodiscard]] Result<FeatureVector> read_counters() override;
  [[nodiscard]] CallCost cost() const override { return calls_.cost(); }

 private:
  [[nodiscard]] Error failure(abi::Return code, std::string_view doing) const;
  Handle handle_;
  DeviceCalls calls_;
  Probed probed_;
  SensorFacts sensor_;
  std::optional<GpmReader> counters_;  // from the first reading on
};

}  // namespace rubato::device::nvml
