// What one GPU lets us read and set, found when it is opened and without a setting call.
#pragma once

#include "core/capability.h"
#include "core/gpu_id.h"
#include "device/nvml/device_calls.h"
#include "device/nvml/sensor_facts.h"

namespace rubato::device::nvml {

enum class EnergyPath { none, field, total_energy };  // field 83, or nvmlDeviceGetTotalEnergyConsumption

struct Probed {
  Capabilities capabilities;
  PowerPath power = PowerPath::none;
  EnergyPath energy = EnergyPath::none;
  ComputeCapability chip;
};

/// `right`: whether this thread may set at all (rights.h). device_lost where the GPU does not answer.
[[nodiscard]] Result<Probed> probe(DeviceCalls& calls, const GpuIdentity& gpu, const Capability& right);

}  // namespace rubato::device::nvml
