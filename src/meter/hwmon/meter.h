// Power and energy of the chips that Linux shows in /sys/class/hwmon: supply rails (INA226, INA3221), ACPI
// power meters (NVIDIA Grace among them), CPU and GPU energy counters of other vendors.
#pragma once

#include "meter/meter.h"

namespace rubato::meter::hwmon {

[[nodiscard]] const MeterKind& kind();

}  // namespace rubato::meter::hwmon
