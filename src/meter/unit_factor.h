// The units that network meters report in, as factors to watts and joules.
#pragma once

#include <optional>
#include <string_view>

namespace rubato::meter {

inline constexpr std::string_view kPowerUnits = "mW, W, dW, daW, kW";
inline constexpr std::string_view kEnergyUnits = "J, kJ, mWh, Wmin, Wh, dWh, kWh";

[[nodiscard]] inline std::optional<double> watts_per(std::string_view unit) {
  if (unit == "mW") return 1e-3;
  if (unit == "W") return 1;
  if (unit == "dW") return 0.1;
  if (unit == "daW") return 10;  // hundredths of a kilowatt
  if (unit == "kW") return 1e3;
  return std::nullopt;
}

[[nodiscard]] inline std::optional<double> joules_per(std::string_view unit) {
  if (unit == "J") return 1;
  if (unit == "kJ") return 1e3;
  if (unit == "mWh") return 3.6;
  if (unit == "Wmin") return 60;
  if (unit == "Wh") return 3600;
  if (unit == "dWh") return 360;
  if (unit == "kWh") return 3.6e6;
  return std::nullopt;
}

}  // namespace rubato::meter
