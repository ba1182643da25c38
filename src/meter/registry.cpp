#include "meter/registry.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "meter/hwmon/meter.h"
#include "meter/mcp39f511n/meter.h"
#include "meter/plugin.h"
#include "meter/rapl/meter.h"

namespace rubato::meter {
namespace {

/// A kind in a module, as help and command line need it before anything is loaded. `package`: Debian 12's.
struct Module {
  std::string_view name;
  std::string_view package;
};
constexpr Module kSnmp{"snmp", "libsnmp40"};
constexpr Module kMqtt{"mqtt", "libmosquitto1"};
constexpr Module kIpmi{"ipmi", "libfreeipmi17"};

template <const Module& kModule>
Result<std::unique_ptr<Meter>> open_in_module(std::string_view argument, const Surroundings& around) {
  const auto kind = load_kind(kModule.name, kModule.package, module_folders());
  if (!kind) return fail(kind.error());
  return (*kind)->open(argument, around);
}

template <const Module& kModule>
std::vector<FoundMeter> find_in_module(const Surroundings& around) {
  const auto kind = load_kind(kModule.name, kModule.package, module_folders());
  if (kind) return (*kind)->find(around);
  std::vector<FoundMeter> found;
  for (const MeterTable& table : around.tables) {
    const auto entry = table.values.find("kind");
    if (entry == table.values.end() || entry->second != kModule.name) continue;
    found.push_back({.spec = cat(kModule.name, ":", table.name),
                     .what = cat("configured in ", table.file.string()),
                     .usable = Capability::no(kind.error().what, kind.error().hint)});
  }
  return found;
}

std::span<const MeterKind> all_kinds() {
  static const std::array<MeterKind, 6> kKinds{
      rapl::kind(),
      hwmon::kind(),
      mcp39f511n::kind(),
      MeterKind{kIpmi.name, "[NAME]", "a machine's management controller, by DCMI", &open_in_module<kIpmi>,
                &find_in_module<kIpmi>},
      MeterKind{kSnmp.name, "NAME|PRESET@HOST[/OUTLET]", "power strips and other devices with an SNMP agent",
                &open_in_module<kSnmp>, &find_in_module<kSnmp>},
      MeterKind{kMqtt.name, "NAME|PRESET@HOST/DEVICE", "smart plugs and other devices that publish over MQTT",
                &open_in_module<kMqtt>, &find_in_module<kMqtt>}};
  return kKinds;
}

}  // namespace

std::span<const MeterKind> kinds() {
  return all_kinds();
}

Result<std::unique_ptr<Meter>> open_meter(std::string_view spec, const Surroundings& around) {
  const auto colon = spec.find(':');
  const std::string_view name = spec.substr(0, colon);
  const std::string_view argument =
      colon == std::string_view::npos ? std::string_view{} : spec.substr(colon + 1);
  std::string known;
  for (const MeterKind& kind : all_kinds()) {
    if (kind.name == name) return kind.open(argument, around);
    const bool optional = kind.argument.starts_with('[');
    known += cat(known.empty() ? "" : ", ", kind.name, optional ? "[:" : ":",
                 kind.argument.substr(optional ? 1 : 0));
  }
  return fail(ErrorCode::invalid_argument, cat("no kind of meter is called '", name, "'"),
              cat("there are: ", known));
}

std::vector<FoundMeter> find_meters(const Surroundings& around) {
  std::vector<FoundMeter> all;
  for (const MeterKind& kind : all_kinds()) {
    auto found = kind.find(around);
    std::move(found.begin(), found.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace rubato::meter
