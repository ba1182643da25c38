// Which driver this is, where NVML gives one number two meanings.
#pragma once

#include <compare>
#include <string_view>

namespace rubato::device::nvml {

struct DriverVersion {
  int branch = 0;   // 580 of "580.82.07"
  int release = 0;  // 82
  auto operator<=>(const DriverVersion&) const = default;
};

/// {0, 0}, older than any, where the text is no version.
[[nodiscard]] DriverVersion parse_driver_version(std::string_view text);

/// Since nvml.h of CUDA 12.9 the unit of field 74 is stated: nanoseconds.
inline constexpr DriverVersion kPowerCapTimeIsAField{575, 0};

/// Fields 251 to 273 changed their meaning within branch 580, between CUDA 13.0 (580.65) and its update 1
/// (580.82): 269 to 271 were power smoothing before and are limiter times from there on. NVML API reference,
/// "Known Issues"; nvml.h of CUDA 12.8, 12.9, 13.0 and 13.0 update 2.
inline constexpr DriverVersion kThermalTimesAreFields{580, 82};

}  // namespace rubato::device::nvml
