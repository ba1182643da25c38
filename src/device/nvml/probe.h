// What one GPU lets us read and set, found when it is opened and without a setting call.
#pragma once

#include <optional>
#include <vector>

#include "core/capability.h"
#include "core/gpu_id.h"
#include "core/sample.h"
#include "device/nvml/driver_version.h"
#include "device/nvml/fields.h"
#include "device/nvml/sensor_facts.h"

namespace rubato::device::nvml {

/// Power limits as far as one field-value call gives them.
struct LimitParts {
  std::optional<Watts> min;
  std::optional<Watts> max;
  std::optional<Watts> by_default;
  std::optional<Watts> requested;
  std::optional<Watts> enforced;
};

/// Which calls fill a reading. What a field answers is never asked by a call of its own.
struct Probed {
  Capabilities capabilities;
  ComputeCapability chip;
  PowerPath power = PowerPath::none;
  bool counter_by_call = false;         // nvmlDeviceGetTotalEnergyConsumption
  bool power_cap_time_by_call = false;  // nvmlDeviceGetViolationStatus
  bool thermal_time_by_call = false;
  std::vector<FieldTo<FastReading>> fast;
  std::vector<FieldTo<SlowReading>> slow;
  std::vector<FieldTo<LimitParts>> limits;
};

/// `right`: whether this thread may set at all (rights.h). device_lost where the GPU does not answer.
[[nodiscard]] Result<Probed> probe(DeviceCalls& calls, const GpuIdentity& gpu, DriverVersion driver,
                                   const Capability& right);

namespace probe_detail {
/// A read-out is there if it just worked.
[[nodiscard]] Capability readable(abi::Return code, const char* function);
void probe_power(DeviceCalls& calls, Probed& found);
void probe_limits(DeviceCalls& calls, const GpuIdentity& gpu, Probed& found);
[[nodiscard]] Capability probe_counters(DeviceCalls& calls);
void probe_limiter_times(DeviceCalls& calls, DriverVersion driver, Probed& found);
}  // namespace probe_detail

}  // namespace rubato::device::nvml
