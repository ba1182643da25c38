#include "device/nvml/driver_version.h"

#include "base/text.h"

namespace rubato::device::nvml {

DriverVersion parse_driver_version(std::string_view text) {
  const auto parts = split(trim(text), '.');
  if (parts.size() < 2) return {};
  const auto branch = parse_integer(parts[0]);
  const auto release = parse_integer(parts[1]);
  if (!branch || !release || *branch < 0 || *branch > 99'999 || *release < 0 || *release > 99'999) return {};
  return {static_cast<int>(*branch), static_cast<int>(*release)};
}

}  // namespace rubato::device::nvml
