#include "device/sim/profile.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "device/sim/embedded.h"

namespace rubato::device::sim {
namespace {

using Json = nlohmann::json;

// A figure is {"value": …, "source": …}.
const Json& figure(const Json& profile, const char* name) {
  return profile.at(name).at("value");
}
double number_of(const Json& profile, const char* name) {
  return figure(profile, name).get<double>();
}

PowerField field_of(const Json& profile, const char* name) {
  const Json& field = figure(profile, name);
  return {Seconds(field.at("period_s").get<double>()), Seconds(field.at("window_s").get<double>())};
}

// The driver speaks of whole megahertz: of 142.5 it says 142.
std::vector<Megahertz> even_clocks(const Json& range) {
  std::vector<Megahertz> out;
  const double step = range.at("step").get<double>();
  for (double f = range.at("first").get<double>(); f <= range.at("last").get<double>() + 1e-6; f += step)
    out.emplace_back(std::floor(f + 1e-6));
  return out;
}

Profile parse(const Json& j) {
  Profile p;
  p.name = j.at("name").get<std::string>();
  p.alias = j.at("alias").get<std::string>();
  p.board = j.at("board").get<std::string>();
  p.architecture = j.at("architecture").get<std::string>();
  p.driver_version = figure(j, "driver_version").get<std::string>();
  p.compute_major = figure(j, "compute_capability").at(0).get<unsigned>();
  p.compute_minor = figure(j, "compute_capability").at(1).get<unsigned>();
  p.pci_device_id = figure(j, "pci_device_id").get<std::uint32_t>();
  p.memory_bytes = figure(j, "memory_bytes").get<std::uint64_t>();
  p.limit_min = Watts(number_of(j, "limit_min_w"));
  p.limit_max = Watts(number_of(j, "limit_max_w"));
  p.limit_default = Watts(number_of(j, "limit_default_w"));
  p.sm_clocks = even_clocks(figure(j, "sm_clocks_mhz"));
  for (const Json& clock : figure(j, "memory_clocks_mhz")) p.memory_clocks.emplace_back(clock.get<double>());
  p.sm_reference = Megahertz(number_of(j, "sm_reference_mhz"));
  p.memory_reference = Megahertz(number_of(j, "memory_reference_mhz"));
  p.compute_rate = number_of(j, "compute_rate");
  p.memory_rate = number_of(j, "memory_rate");
  p.sm_idle = Megahertz(number_of(j, "sm_idle_mhz"));
  p.memory_idle = Megahertz(number_of(j, "memory_idle_mhz"));
  p.sm_lowest_reached = Megahertz(number_of(j, "sm_lowest_reached_mhz"));
  p.idle_delay = Seconds(number_of(j, "idle_delay_s"));
  p.clock_latency = Seconds(number_of(j, "clock_latency_s"));
  p.has_memory_lock = figure(j, "has_memory_lock").get<bool>();
  p.has_application_clocks = figure(j, "has_application_clocks").get<bool>();
  p.has_energy_counter = figure(j, "has_energy_counter").get<bool>();
  for (const Json& point : figure(j, "voltage"))
    p.voltage.push_back({Megahertz(point.at(0).get<double>()), point.at(1).get<double>()});
  p.idle = Watts(number_of(j, "idle_w"));
  p.clock_tree = Watts(number_of(j, "clock_tree_w"));
  p.compute = Watts(number_of(j, "compute_w"));
  p.memory_background = Watts(number_of(j, "memory_background_w"));
  p.memory_traffic = Watts(number_of(j, "memory_traffic_w"));
  p.leakage_w_per_c = number_of(j, "leakage_w_per_c");
  p.leakage_reference = Celsius(number_of(j, "leakage_reference_c"));
  p.ambient = Celsius(number_of(j, "ambient_c"));
  p.thermal_c_per_w = number_of(j, "thermal_c_per_w");
  p.thermal_time = Seconds(number_of(j, "thermal_time_s"));
  p.limiter_period = Seconds(number_of(j, "limiter_period_s"));
  p.limiter_lag = Seconds(number_of(j, "limiter_lag_s"));
  p.limiter_steps = figure(j, "limiter_steps").get<unsigned>();
  p.limiter_dead_band = number_of(j, "limiter_dead_band");
  p.instant = field_of(j, "instant");
  p.average = field_of(j, "average");
  p.sensor_gain = number_of(j, "sensor_gain");
  p.sensor_offset = Watts(number_of(j, "sensor_offset_w"));
  p.sensor_gain_spread = number_of(j, "sensor_gain_spread");
  p.counter_period = Seconds(number_of(j, "counter_period_s"));
  p.sensor_source = j.at("sensor_gain").at("source").get<std::string>();
  return p;
}

// Built in: what does not parse is a fault of the build, and the tests read every profile.
const std::vector<Profile>& profiles() {
  static const std::vector<Profile> kAll = [] {
    std::vector<Profile> out;
    for (const std::string_view text : embedded_gpus()) out.push_back(parse(Json::parse(text)));
    return out;
  }();
  return kAll;
}

}  // namespace

std::vector<Megahertz> Profile::sm_clocks_at(Megahertz memory) const {
  if (std::find(memory_clocks.begin(), memory_clocks.end(), memory) == memory_clocks.end()) return {};
  return sm_clocks;
}

double Profile::volts_at(Megahertz clock) const {
  if (clock <= voltage.front().clock) return voltage.front().volts;
  for (std::size_t i = 1; i < voltage.size(); ++i) {
    const VoltagePoint& low = voltage[i - 1];
    const VoltagePoint& high = voltage[i];
    if (clock <= high.clock)
      return low.volts + (high.volts - low.volts) * ((clock - low.clock) / (high.clock - low.clock));
  }
  return voltage.back().volts;
}

Result<const Profile*> find_profile(std::string_view name) {
  std::string known;
  for (const Profile& profile : profiles()) {
    if (name == profile.name || name == profile.alias) return &profile;
    known += cat(known.empty() ? "" : ", ", profile.name);
    if (profile.alias != profile.name) known += cat(" (", profile.alias, ")");
  }
  return fail(ErrorCode::not_found, cat("there is no simulated GPU \"", name, "\"; there are ", known),
              "`rubato sim gpus` describes them");
}

std::vector<ProfileSummary> list_profiles() {
  std::vector<ProfileSummary> out;
  for (const Profile& profile : profiles()) out.push_back({profile.name, profile.alias, profile.board});
  return out;
}

}  // namespace rubato::device::sim
