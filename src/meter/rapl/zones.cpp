#include "meter/rapl/zones.h"

#include <algorithm>
#include <fstream>
#include <map>

#include "base/text.h"
#include "meter/number_file.h"

namespace rubato::meter::rapl {
namespace {

constexpr std::string_view kTree = "/sys/class/powercap";

/// "intel-rapl:0:2": the controller, and the way down the tree.
struct ZoneId {
  std::string controller;
  std::string path;  // "0:2"
  [[nodiscard]] bool is_top() const { return path.find(':') == std::string::npos; }
  [[nodiscard]] std::string parent() const { return path.substr(0, path.find(':')); }
};

std::optional<ZoneId> parse_id(const std::string& entry) {
  const auto colon = entry.find(':');
  if (colon == std::string::npos) return std::nullopt;
  ZoneId id{entry.substr(0, colon), entry.substr(colon + 1)};
  if (id.controller != "intel-rapl" && id.controller != "intel-rapl-mmio") return std::nullopt;
  return id;
}

/// "package-0-die-1" -> "-0-die-1"; every other domain has no number of its own.
std::string numbers_of(std::string_view package) {
  const auto dash = package.find('-');
  return dash == std::string_view::npos ? std::string() : std::string(package.substr(dash));
}

/// "socket 0, die 1"
std::string socket_of(std::string_view numbers) {
  const auto parts = split(numbers, '-');  // "", "0", "die", "1"
  if (parts.size() < 2) return {};
  std::string text = cat("socket ", parts[1]);
  if (parts.size() >= 4 && parts[2] == "die") text += cat(", die ", parts[3]);
  return text;
}

Scope scope_of(std::string_view domain) {
  if (domain == "package") return Scope::cpu_package;
  if (domain == "core") return Scope::cpu_cores;
  if (domain == "uncore") return Scope::cpu_uncore;
  if (domain == "dram") return Scope::dram;
  if (domain == "psys") return Scope::platform;
  return Scope::rail;
}

std::string_view words_for(std::string_view domain) {
  if (domain == "package") return "CPU package";
  if (domain == "core") return "CPU cores";
  if (domain == "uncore") return "integrated GPU and the like";
  if (domain == "dram") return "memory";
  if (domain == "psys") return "the platform";
  return domain;
}

/// The first processor tells. The whole file is larger than 1 MiB where there are more than about 500.
bool is_amd(const FsRoot& root) {
  std::ifstream info(root.path("/proc/cpuinfo"));
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("vendor_id")) return line.find("AuthenticAMD") != std::string::npos;
  return false;
}

Zone make_zone(const std::filesystem::path& folder, std::string domain, const std::string& numbers,
               bool amd) {
  Zone zone;
  zone.channel.name = cat(domain, numbers);
  zone.channel.scope = scope_of(domain);
  const std::string socket = socket_of(numbers);
  zone.channel.place = cat(words_for(domain), socket.empty() ? "" : " of ", socket);
  // The kernel reads AMD's per-core counter on one core only (drivers/powercap/intel_rapl_msr.c).
  if (amd && domain == "core") zone.channel.place = cat("the first core of ", socket);
  zone.channel.has_energy = true;
  zone.channel.sensor = {
      .counter_period = Seconds(0.001),
      .source = "Linux powercap; a register updated about every 1 ms, its accuracy is not stated"};
  zone.domain = std::move(domain);
  zone.energy_file = folder / "energy_uj";
  if (const auto top = read_whole(folder / "max_energy_range_uj"); top && *top > 0)
    zone.top = static_cast<std::uint64_t>(*top);
  return zone;
}

bool names(std::string_view item, const Zone& zone) {
  return item == zone.domain || item == zone.channel.name;
}

}  // namespace

std::vector<Zone> find_zones(const FsRoot& root) {
  const auto tree = root.path(kTree);
  const bool amd = is_amd(root);
  std::vector<std::pair<ZoneId, std::string>> found;
  for (const std::string& entry : entries(tree))
    if (auto id = parse_id(entry)) found.emplace_back(std::move(*id), entry);
  // The MMIO controller reads the registers of packages that the other one has too, so it comes last.
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return (a.first.controller == "intel-rapl") > (b.first.controller == "intel-rapl");
  });

  std::vector<Zone> zones;
  std::map<std::string, std::string> controller_of;  // by channel name
  for (const auto& [id, entry] : found) {
    const std::string name = read_word(tree / entry / "name");
    if (name.empty()) continue;
    const std::string package =
        id.is_top() ? name : read_word(tree / cat(id.controller, ":", id.parent()) / "name");
    // "package-0" and, on some servers, "psys-1" carry numbers of their own; "dram" has its package's.
    const bool numbered = name.starts_with("package") || name.starts_with("psys");
    const std::string numbers =
        numbered || package.starts_with("package") ? numbers_of(package) : std::string();
    Zone zone = make_zone(tree / entry, numbered ? name.substr(0, name.find('-')) : name, numbers, amd);
    const auto twin = controller_of.find(zone.channel.name);
    if (twin != controller_of.end() && twin->second != id.controller) continue;
    if (twin != controller_of.end()) zone.channel.name += cat("@", id.path);
    if (zone.domain == "core" || zone.domain == "uncore") zone.channel.inside = cat("package", numbers);
    controller_of.emplace(zone.channel.name, id.controller);
    zones.push_back(std::move(zone));
  }
  const auto is_platform = [](const Zone& zone) { return zone.domain == "psys"; };
  const auto platform = std::find_if(zones.begin(), zones.end(), is_platform);
  // With several it is not known which holds which package.
  if (std::count_if(zones.begin(), zones.end(), is_platform) != 1) return zones;
  for (Zone& zone : zones)
    if (zone.domain == "package" || zone.domain == "dram") zone.channel.inside = platform->channel.name;
  return zones;
}

Result<std::vector<Zone>> choose_zones(std::vector<Zone> zones, std::string_view argument) {
  const bool all = trim(argument) == "all";
  std::vector<std::string> wanted{"package", "dram", "psys"};
  if (!trim(argument).empty() && !all) {
    wanted.clear();
    for (const std::string& item : split(argument, ',')) {
      const std::string_view name = trim(item);
      if (std::none_of(zones.begin(), zones.end(), [&](const Zone& zone) { return names(name, zone); })) {
        std::string known;
        for (const Zone& zone : zones) known += cat(known.empty() ? "" : ", ", zone.channel.name);
        return fail(ErrorCode::not_found, cat("rapl: no domain '", name, "' on this machine"),
                    cat("there are: ", known, "; or --meter rapl:all"));
      }
      wanted.emplace_back(name);
    }
  }
  std::vector<Zone> chosen;
  for (Zone& zone : zones) {
    const auto wants = [&](const std::string& item) { return names(item, zone); };
    if (all || std::any_of(wanted.begin(), wanted.end(), wants)) chosen.push_back(std::move(zone));
  }
  for (Zone& zone : chosen) {
    const auto holds = [&](const Zone& other) { return other.channel.name == zone.channel.inside; };
    if (std::none_of(chosen.begin(), chosen.end(), holds)) zone.channel.inside.clear();
  }
  return chosen;
}

}  // namespace rubato::meter::rapl
