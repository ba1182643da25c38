// What is published about the power sensor of each GPU generation; what nobody measured stays unknown.
#pragma once

#include <string_view>

#include "core/capability.h"

namespace rubato::device::nvml {

enum class PowerPath {
  none,
  instant_field,  // NVML field 186
  power_usage,    // nvmlDeviceGetPowerUsage, a 1 s mean on many newer boards
};

struct ComputeCapability {
  int major = 0;
  int minor = 0;
};

/// `driver_version` matters on the power-usage path only: driver 530 gave it another meaning.
[[nodiscard]] SensorFacts sensor_facts(ComputeCapability chip, std::string_view board_name, PowerPath path,
                                       std::string_view driver_version);

}  // namespace rubato::device::nvml
