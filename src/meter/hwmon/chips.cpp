#include "meter/hwmon/chips.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"
#include "meter/number_file.h"

namespace rubato::meter::hwmon {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& file) {
  std::error_code ignored;
  return fs::exists(file, ignored);
}

std::optional<Seconds> milliseconds(const fs::path& file) {
  const auto value = read_whole(file);
  if (!value || *value <= 0) return std::nullopt;
  return Seconds(static_cast<double>(*value) * 1e-3);
}

/// "power12_input" with stem "power" -> 12
std::optional<int> index_of(std::string_view file, std::string_view stem, std::string_view ending) {
  if (!file.starts_with(stem) || !file.ends_with(ending)) return std::nullopt;
  file.remove_prefix(stem.size());
  if (file.size() < ending.size()) return std::nullopt;
  file.remove_suffix(ending.size());
  const auto digit = [](unsigned char c) { return std::isdigit(c) != 0; };
  if (file.empty() || file.size() > 4 || !std::all_of(file.begin(), file.end(), digit)) return std::nullopt;
  return static_cast<int>(*parse_integer(file));
}

/// Of an ACPI power meter the firmware's own words stand where other drivers have a label.
std::string label_of(const fs::path& folder, const std::string& attribute) {
  std::string label = read_word(folder / cat(attribute, "_label"));
  return label.empty() ? read_word(folder / cat(attribute, "_oem_info")) : label;
}

Quantity& quantity(std::vector<Quantity>& all, const fs::path& folder, const std::string& attribute) {
  const auto same =
      std::find_if(all.begin(), all.end(), [&](const Quantity& q) { return q.attribute == attribute; });
  if (same != all.end()) return *same;
  return all.emplace_back(Quantity{.attribute = attribute, .label = label_of(folder, attribute)});
}

/// The fourth to seventh voltages of an INA3221 are the drops over its shunts, in uV, and its fourth current
/// is the sum of the others (Documentation/hwmon/ina3221.rst): no two of them make a power.
bool is_rail(const std::string& chip, int index) {
  return chip != "ina3221" || index <= 3;
}

void add_rail(std::vector<Quantity>& all, const fs::path& folder, int index) {
  const fs::path voltage = folder / cat("in", index, "_input");
  if (!is_there(voltage)) return;
  Quantity rail{.attribute = cat("rail", index), .label = read_word(folder / cat("in", index, "_label"))};
  rail.voltage = voltage;
  rail.current = folder / cat("curr", index, "_input");
  all.push_back(std::move(rail));
}

std::vector<Quantity> quantities_in(const fs::path& folder, const std::string& chip) {
  std::vector<Quantity> found;
  const auto files = entries(folder);
  for (const std::string& file : files) {
    if (const auto n = index_of(file, "energy", "_input"))
      quantity(found, folder, cat("energy", *n)).energy = folder / file;
    if (const auto n = index_of(file, "power", "_average")) {
      Quantity& q = quantity(found, folder, cat("power", *n));
      q.power = folder / file;
      q.averaged_over = milliseconds(folder / cat("power", *n, "_average_interval"));
    }
    // Where there are both, the momentary reading: what flowed is integrated here.
    if (const auto n = index_of(file, "power", "_input")) {
      Quantity& q = quantity(found, folder, cat("power", *n));
      q.power = folder / file;
      q.averaged_over.reset();
    }
  }
  // INA3221 and its like tell volts and amperes of each rail, and leave the product to the reader.
  const bool has_power =
      std::any_of(found.begin(), found.end(), [](const Quantity& q) { return !q.power.empty(); });
  if (!has_power)
    for (const std::string& file : files)
      if (const auto n = index_of(file, "curr", "_input"); n && is_rail(chip, *n))
        add_rail(found, folder, *n);
  return found;
}

/// An ACPI power meter links to the devices it measures; the machine itself is LNXSYBUS.
bool measures_the_machine(const fs::path& device) {
  const auto measured = entries(device / "measures");
  return std::any_of(measured.begin(), measured.end(),
                     [](const std::string& name) { return name.starts_with("LNXSYBUS"); });
}

}  // namespace

std::vector<Chip> find_chips(const FsRoot& root) {
  const fs::path tree = root.path("/sys/class/hwmon");
  std::vector<Chip> chips;
  for (const std::string& folder : entries(tree)) {
    // Older drivers, the ACPI power meter among them, keep their files with the device.
    for (const fs::path& place : std::array<fs::path, 2>{tree / folder, tree / folder / "device"}) {
      Chip chip{.name = read_word(tree / folder / "name"), .folder = folder};
      if (chip.name.empty()) chip.name = read_word(tree / folder / "device/name");
      if (chip.name.empty()) chip.name = folder;
      chip.quantities = quantities_in(place, chip.name);
      if (chip.quantities.empty()) continue;
      std::error_code failed;
      const fs::path device = fs::read_symlink(tree / folder / "device", failed);
      chip.id = failed ? cat(chip.name, "@", folder) : cat(chip.name, "@", device.filename().string());
      chip.whole_system = measures_the_machine(tree / folder / "device");
      chip.update_interval = milliseconds(place / "update_interval");
      chips.push_back(std::move(chip));
      break;
    }
  }
  return chips;
}

}  // namespace rubato::meter::hwmon
