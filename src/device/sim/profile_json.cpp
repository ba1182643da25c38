#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json_figures.h"
#include "base/text.h"
#include "device/sim/profile.h"

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
  PowerField out{
      Seconds(field.at("period_s").get<double>()), Seconds(field.at("window_s").get<double>()), {}};
  if (field.contains("lag_s")) out.lag = Seconds(field.at("lag_s").get<double>());
  return out;
}

bool flag_of(const Json& profile, const char* name) {
  return figure(profile, name).get<bool>();
}

// Thrown and caught inside this file only.
struct Bad {
  std::string what;
};

void must(bool holds, std::string_view what) {
  if (!holds) throw Bad{std::string(what)};
}

// The driver speaks of whole megahertz: of 142.5 it says 142.
std::vector<Megahertz> even_clocks(const Json& range) {
  std::vector<Megahertz> out;
  const double step = range.at("step").get<double>();
  must(step >= 1.0 && range.at("last").get<double>() < 1e4,
       "sm_clocks_mhz: a step of 1 MHz or more, up to 10 GHz");
  auto clock = range.at("first").get<double>();
  while (clock <= range.at("last").get<double>() + 1e-6) {
    out.emplace_back(std::floor(clock + 1e-6));
    clock += step;
  }
  for (const Json& f : range.value("also", Json::array())) out.emplace_back(f.get<double>());
  std::sort(out.begin(), out.end());
  return out;
}

std::uint32_t index_of(const std::vector<Megahertz>& clocks, Megahertz clock) {
  const auto at = std::lower_bound(clocks.begin(), clocks.end(), clock);
  must(at != clocks.end() && *at == clock, "a clock that is not in its table");
  return static_cast<std::uint32_t>(at - clocks.begin());
}

// What only some boards have stands in their file only: a lower memory clock's own SM clocks, P-states, a
// boost that follows temperature, a superchip's module.
void read_clock_rules(const Json& j, Profile& p) {
  p.sm_top_at.assign(p.memory_clocks.size(), static_cast<std::uint32_t>(p.sm_clocks.size() - 1));
  if (j.contains("sm_highest_at_memory_mhz"))
    for (const Json& pair : figure(j, "sm_highest_at_memory_mhz"))
      p.sm_top_at.at(index_of(p.memory_clocks, Megahertz(pair.at(0).get<double>()))) =
          index_of(p.sm_clocks, Megahertz(pair.at(1).get<double>()));
  p.performance_states.assign(p.memory_clocks.size(), 0);
  if (j.contains("performance_states"))
    p.performance_states = figure(j, "performance_states").get<std::vector<unsigned>>();
  p.memory_compute = p.memory_clocks.back();
  if (j.contains("memory_compute_mhz")) p.memory_compute = Megahertz(number_of(j, "memory_compute_mhz"));
  p.boost.highest = p.sm_clocks.back();
  if (j.contains("boost")) {
    const Json& boost = figure(j, "boost");
    p.boost = {Megahertz(boost.at("highest_mhz").get<double>()), Celsius(boost.at("from_c").get<double>()),
               boost.at("c_per_step").get<double>()};
  }
  p.application_sm_default = p.sm_clocks.back();
  if (j.contains("application_sm_default_mhz"))
    p.application_sm_default = Megahertz(number_of(j, "application_sm_default_mhz"));
  const Json& latency = figure(j, "clock_latency");
  p.clock_latency = {Seconds(latency.at("typical_s").get<double>()), latency.at("spread").get<double>(),
                     Seconds(latency.at("outlier_s").get<double>()),
                     latency.at("outlier_share").get<double>()};
}

template <class Range, class Key>
bool rises(const Range& range, Key key) {
  return std::adjacent_find(range.begin(), range.end(),
                            [&](const auto& a, const auto& b) { return !(key(a) < key(b)); }) == range.end();
}

void check(const Profile& p) {
  const auto mhz = [](Megahertz f) { return f.value(); };
  must(!p.sm_clocks.empty() && p.sm_clocks.front().value() > 0 && rises(p.sm_clocks, mhz),
       "sm_clocks_mhz rises");
  must(!p.memory_clocks.empty() && p.memory_clocks.front().value() > 0 && rises(p.memory_clocks, mhz),
       "memory_clocks_mhz rises");
  must(p.performance_states.size() == p.memory_clocks.size(), "one performance state for each memory clock");
  must(!p.voltage.empty() && p.voltage.front().volts > 0 &&
           rises(p.voltage, [](const VoltagePoint& v) { return v.clock.value(); }) &&
           p.voltage.front().volts <= p.voltage.back().volts,
       "voltage rises with the clock");
  must(p.limit_min <= p.limit_default && p.limit_default <= p.limit_max && p.limit_min > Watts(0),
       "limit_min_w, limit_default_w and limit_max_w in that order");
  must(
      p.sm_reference.value() > 0 && p.memory_reference.value() > 0 && p.compute_rate > 0 && p.memory_rate > 0,
      "reference clocks and rates above 0");
  must(p.idle > Watts(0) && p.clock_tree >= Watts(0) && p.compute >= Watts(0) &&
           p.memory_background >= Watts(0) && p.memory_traffic >= Watts(0) && p.transport >= Watts(0) &&
           p.leakage_w_per_c >= 0,
       "no negative power");
  must(p.thermal_c_per_w >= 0 && p.thermal_c_per_w * p.leakage_w_per_c < 0.9, "no thermal runaway");
  must(p.slowdown < p.hw_slowdown, "slowdown_c below hw_slowdown_c");
  for (const PowerField* field : {&p.instant, &p.average})
    must(field->period >= Seconds(0.001) && field->window > Seconds(0) &&
             field->window / field->period <= static_cast<double>(kMostAverage) &&
             (!field->lag || *field->lag > Seconds(0)),
         "a sensor's period from 1 ms and its window");
  must(p.counter_period >= Seconds(0.001) && p.thermal_time > Seconds(0) && p.limiter_lag > Seconds(0) &&
           p.limiter_period > Seconds(0) && p.limiter_steps >= 1 && p.idle_delay >= Seconds(0),
       "times above 0");
  must(p.clock_latency.typical >= Seconds(0) && p.clock_latency.spread >= 0 && p.clock_latency.spread <= 1,
       "clock_latency");
  must(p.sensor_gain > 0, "sensor_gain above 0");
}

void tabulate(Profile& p) {
  const double reference = p.volts_at(p.sm_reference);
  for (const Megahertz clock : p.sm_clocks) {
    const double volts = p.volts_at(clock);
    p.core_factor.push_back(clock / p.sm_reference * (volts / reference) * (volts / reference));
    p.volt_factor.push_back((volts / reference) * (volts / reference));
    p.leak_factor.push_back((volts / p.highest_volts()) * (volts / p.highest_volts()));
  }
}

Profile parse(const Json& j) {
  Profile p;
  p.name = j.at("name").get<std::string>();
  p.alias = j.at("alias").get<std::string>();
  p.board = j.at("board").get<std::string>();
  p.architecture = j.at("architecture").get<std::string>();
  p.driver_version = figure(j, "driver_version").get<std::string>();
  p.compute_major = whole_of<unsigned>(figure(j, "compute_capability").at(0));
  p.compute_minor = whole_of<unsigned>(figure(j, "compute_capability").at(1));
  p.pci_device_id = whole_of<std::uint32_t>(figure(j, "pci_device_id"));
  p.memory_bytes = whole_of<std::uint64_t>(figure(j, "memory_bytes"));
  if (j.contains("sm_count")) p.sm_count = whole_of<unsigned>(figure(j, "sm_count"));
  if (j.contains("memory_bus_bits")) p.memory_bus_bits = whole_of<unsigned>(figure(j, "memory_bus_bits"));
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
  p.can_set_power_limit = flag_of(j, "can_set_power_limit");
  p.has_sm_lock = flag_of(j, "has_sm_lock");
  p.has_memory_lock = flag_of(j, "has_memory_lock");
  p.has_application_clocks = flag_of(j, "has_application_clocks");
  p.has_energy_counter = flag_of(j, "has_energy_counter");
  for (const Json& point : figure(j, "voltage"))
    p.voltage.push_back({Megahertz(point.at(0).get<double>()), point.at(1).get<double>()});
  p.idle = Watts(number_of(j, "idle_w"));
  p.clock_tree = Watts(number_of(j, "clock_tree_w"));
  p.compute = Watts(number_of(j, "compute_w"));
  p.memory_background = Watts(number_of(j, "memory_background_w"));
  p.memory_traffic = Watts(number_of(j, "memory_traffic_w"));
  p.transport = Watts(number_of(j, "transport_w"));
  p.leakage_w_per_c = number_of(j, "leakage_w_per_c");
  p.leakage_reference = Celsius(number_of(j, "leakage_reference_c"));
  p.ambient = Celsius(number_of(j, "ambient_c"));
  p.thermal_c_per_w = number_of(j, "thermal_c_per_w");
  p.thermal_time = Seconds(number_of(j, "thermal_time_s"));
  p.slowdown = Celsius(number_of(j, "slowdown_c"));
  p.hw_slowdown = Celsius(number_of(j, "hw_slowdown_c"));
  p.limiter_period = Seconds(number_of(j, "limiter_period_s"));
  p.limiter_lag = Seconds(number_of(j, "limiter_lag_s"));
  p.limiter_steps = whole_of<unsigned>(figure(j, "limiter_steps"));
  p.limiter_dead_band = number_of(j, "limiter_dead_band");
  p.instant = field_of(j, "instant");
  p.average = field_of(j, "average");
  p.sensor_gain = number_of(j, "sensor_gain");
  p.sensor_offset = Watts(number_of(j, "sensor_offset_w"));
  p.sensor_gain_spread = number_of(j, "sensor_gain_spread");
  p.counter_period = Seconds(number_of(j, "counter_period_s"));
  p.sensor_source = j.at("sensor_gain").at("source").get<std::string>();
  p.has_memory_power = flag_of(j, "has_memory_power");
  if (j.contains("module_others_w")) p.module_others = Watts(number_of(j, "module_others_w"));
  must(!p.sm_clocks.empty() && !p.memory_clocks.empty(), "clock tables that are not empty");
  read_clock_rules(j, p);
  check(p);
  for (const Megahertz clock : {p.sm_idle, p.sm_lowest_reached, p.application_sm_default, p.boost.highest})
    static_cast<void>(index_of(p.sm_clocks, clock));
  for (const Megahertz clock : {p.memory_idle, p.memory_compute})
    static_cast<void>(index_of(p.memory_clocks, clock));
  tabulate(p);
  return p;
}

}  // namespace

Result<Profile> parse_profile(std::string_view json) {
  try {
    return parse(Json::parse(json));
  } catch (const Bad& bad) {
    return fail(ErrorCode::invalid_argument, cat("GPU profile: it needs ", bad.what));
  } catch (const std::exception& bad) {
    return fail(ErrorCode::invalid_argument, cat("GPU profile: ", bad.what()));
  }
}

}  // namespace rubato::device::sim
