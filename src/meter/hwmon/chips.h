// Which chips of /sys/class/hwmon tell power or energy, by which files.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/fs_root.h"
#include "base/units.h"
#include "core/meter_reading.h"

namespace rubato::meter::hwmon {

/// One quantity of a chip. Either `energy` is there, or `power`, or `voltage` and `current` whose product is
/// power.
struct Quantity {
  std::string attribute;          // "power1"
  std::string label;              // what the driver or the firmware calls it; may be empty
  std::filesystem::path energy;   // uJ
  std::filesystem::path power;    // uW
  std::filesystem::path voltage;  // mV
  std::filesystem::path current;  // mA
  std::optional<Seconds> averaged_over;
};

struct Chip {
  std::string name;           // "ina226": several chips may share it
  std::string id;             // "ina226@2-0040": the chip at its place on its bus, the same after a reboot
  std::string folder;         // "hwmon3": changes from boot to boot
  bool whole_system = false;  // an ACPI power meter that says it measures the machine
  std::optional<Seconds> update_interval;
  std::vector<Quantity> quantities;  // never empty
};

[[nodiscard]] std::vector<Chip> find_chips(const FsRoot& root);

}  // namespace rubato::meter::hwmon
