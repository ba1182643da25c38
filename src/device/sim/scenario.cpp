#include "device/sim/scenario.h"

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/fs_root.h"
#include "base/text.h"

namespace rubato::device::sim {
namespace {

using Json = nlohmann::json;

// Thrown and caught inside this file only.
struct Bad {
  std::string what;
};

template <class Value, std::size_t N>
Value choose(const Json& text, const char* field, const std::pair<std::string_view, Value> (&names)[N]) {
  std::string known;
  for (const auto& [name, value] : names) {
    if (text == name) return value;
    known += cat(known.empty() ? "" : ", ", name);
  }
  throw Bad{cat("\"", field, "\" is ", text.dump(), "; it can be ", known)};
}

constexpr std::pair<std::string_view, Rights> kRights[] = {
    {"owner", Rights::owner}, {"cap_sys_admin", Rights::cap_sys_admin}, {"none", Rights::none}};
constexpr std::pair<std::string_view, Effect> kEffects[] = {{"error", Effect::error},
                                                            {"lie", Effect::lie},
                                                            {"clamp", Effect::clamp},
                                                            {"slow", Effect::slow},
                                                            {"hang", Effect::hang},
                                                            {"kill_before", Effect::kill_before},
                                                            {"kill_after", Effect::kill_after},
                                                            {"foreign_limit", Effect::foreign_limit},
                                                            {"driver_reload", Effect::driver_reload},
                                                            {"foreign_sm_clock", Effect::foreign_sm_clock},
                                                            {"gpu_reset", Effect::gpu_reset},
                                                            {"gpu_lost", Effect::gpu_lost},
                                                            {"counter_reset", Effect::counter_reset},
                                                            {"stale_sensor", Effect::stale_sensor},
                                                            {"absurd_reading", Effect::absurd_reading},
                                                            {"power_brake", Effect::power_brake}};
constexpr std::pair<std::string_view, ErrorCode> kErrors[] = {{"no_permission", ErrorCode::no_permission},
                                                              {"not_supported", ErrorCode::not_supported},
                                                              {"device_lost", ErrorCode::device_lost},
                                                              {"timeout", ErrorCode::timeout},
                                                              {"unknown", ErrorCode::internal}};

void check_fields(const Json& object, std::initializer_list<std::string_view> known) {
  if (!object.is_object()) throw Bad{cat(object.dump(), " should be an object")};
  for (const auto& [key, value] : object.items())
    if (std::find(known.begin(), known.end(), key) == known.end())
      throw Bad{cat("unknown field \"", key, "\"")};
}

CallId call_of(const Json& text) {
  for (std::size_t i = 0; i < kCallCount; ++i)
    if (text == kCallNames[i]) return static_cast<CallId>(i);
  throw Bad{cat("\"call\" is ", text.dump(), ", which is no driver call; left out it means every call")};
}

double seconds_of(const Json& j, const char* field) {
  const double value = j.value(field, 0.0);
  if (!(value >= 0.0 && value < 1e9)) throw Bad{cat("\"", field, "\" is ", value, "; it must be 0 or more")};
  return value;
}

Celsius celsius_of(const Json& j, const char* field) {
  const double value = j.at(field).get<double>();
  if (!(value >= -50.0 && value <= 150.0))
    throw Bad{cat("\"", field, "\" is ", value, "; it must lie between -50 and 150")};
  return Celsius(value);
}

ClockRange range_of(const Json& j, const char* field) {
  const Json& range = j.at(field);
  if (!range.is_array() || range.size() != 2)
    throw Bad{cat("\"", field, "\" is ", range.dump(), "; it must be [lowest, highest] in MHz")};
  return {Megahertz(range.at(0).get<double>()), Megahertz(range.at(1).get<double>())};
}

// A whole number, not negative: a JSON number that is neither would be silently turned into one.
std::uint64_t count_of(const Json& j, const char* field, std::uint64_t left_out) {
  if (!j.contains(field)) return left_out;
  if (!j.at(field).is_number_unsigned())
    throw Bad{cat("\"", field, "\" is ", j.at(field).dump(), "; it must be a whole number, 0 or more")};
  return j.at(field).get<std::uint64_t>();
}

bool lasts(Effect effect) {
  return effect == Effect::stale_sensor || effect == Effect::power_brake;
}

void check_fits(const Fault& f) {
  if ((f.effect == Effect::clamp || f.effect == Effect::foreign_limit) && !f.to)
    throw Bad{"this effect needs \"to_w\""};
  if (f.effect == Effect::clamp && f.call != CallId::set_power_limit)
    throw Bad{"only set_power_limit can clamp"};
  if (f.effect == Effect::lie && !(f.call && writes(*f.call)))
    throw Bad{"only a call that sets something can lie"};
  if (lasts(f.effect) && !(f.span > Seconds(0))) throw Bad{"this effect needs \"for_s\" above 0"};
  if (f.effect != Effect::absurd_reading) return;
  if (f.call != CallId::read_power && f.call != CallId::read_energy_counter)
    throw Bad{"only read_power and read_energy_counter can be absurd"};
  if (f.call == CallId::read_power && !f.to) throw Bad{"an absurd reading of power needs \"to_w\""};
  if (f.call == CallId::read_energy_counter && f.jump == Joules(0))
    throw Bad{"an absurd reading of the energy counter needs \"jump_j\""};
}

Fault fault_of(const Json& j) {
  check_fields(j, {"call", "gpu", "after", "count", "at_s", "effect", "error", "to_w", "to_mhz", "jump_j",
                   "for_s", "wall_ms", "role"});
  Fault f;
  if (j.contains("call")) f.call = call_of(j.at("call"));
  if (j.contains("gpu")) f.gpu = static_cast<unsigned>(std::min(count_of(j, "gpu", 0), std::uint64_t{255}));
  f.after = count_of(j, "after", 0);
  f.count = j.value("count", Json(1)) == "always" ? kAlways : count_of(j, "count", 1);
  f.from = Seconds(seconds_of(j, "at_s"));
  f.effect = choose(j.at("effect"), "effect", kEffects);
  if (f.effect == Effect::error) f.error = choose(j.value("error", Json("unknown")), "error", kErrors);
  if (j.contains("to_w")) f.to = Watts(j.at("to_w").get<double>());
  if (j.contains("to_mhz")) f.to_clock = range_of(j, "to_mhz");
  f.jump = Joules(j.value("jump_j", 0.0));
  f.span = Seconds(seconds_of(j, "for_s"));
  f.wall = Seconds(seconds_of(j, "wall_ms") / 1000.0);
  f.role = j.value("role", "");
  if (f.role.size() > 31) throw Bad{"\"role\" is longer than 31 letters"};
  check_fits(f);
  return f;
}

void read_found(const Json& found, Scenario& s) {
  check_fields(found, {"power_limit_w", "sm_clock_mhz", "memory_clock_mhz", "application_clocks_mhz"});
  if (found.contains("power_limit_w")) s.found_power_limit = Watts(found.at("power_limit_w").get<double>());
  if (found.contains("sm_clock_mhz")) s.found_sm_clock = range_of(found, "sm_clock_mhz");
  if (found.contains("memory_clock_mhz")) s.found_memory_clock = range_of(found, "memory_clock_mhz");
  if (!found.contains("application_clocks_mhz")) return;
  const Json& clocks = found.at("application_clocks_mhz");
  check_fields(clocks, {"memory", "sm"});
  s.found_application_clocks = ApplicationClocks{.memory = Megahertz(clocks.at("memory").get<double>()),
                                                 .sm = Megahertz(clocks.at("sm").get<double>())};
}

Scenario scenario_of(const Json& j) {
  check_fields(j, {"rights", "rate", "outlives_job", "seed", "temperature_c", "ambient_c", "found", "faults",
                   "energy_counter"});
  Scenario s;
  if (j.contains("rights")) s.rights = choose(j.at("rights"), "rights", kRights);
  s.rate = j.value("rate", 1.0);
  if (!(s.rate > 0.0 && s.rate <= 1000.0))
    throw Bad{cat("\"rate\" is ", s.rate, "; it must lie above 0, up to 1000")};
  s.outlives_job = j.value("outlives_job", true);
  s.seed = count_of(j, "seed", 1);
  s.energy_counter = j.value("energy_counter", true);
  if (j.contains("temperature_c")) s.temperature = celsius_of(j, "temperature_c");
  if (j.contains("ambient_c")) s.ambient = celsius_of(j, "ambient_c");
  if (j.contains("found")) read_found(j.at("found"), s);
  for (const Json& fault : j.value("faults", Json::array())) s.faults.push_back(fault_of(fault));
  if (s.faults.size() > kMostFaults) throw Bad{cat("more than ", kMostFaults, " faults")};
  return s;
}

}  // namespace

Result<Scenario> parse_scenario(std::string_view json) {
  try {
    return scenario_of(Json::parse(json));
  } catch (const Bad& bad) {
    return fail(ErrorCode::invalid_argument, cat("scenario: ", bad.what));
  } catch (const Json::exception& bad) {
    return fail(ErrorCode::invalid_argument, cat("scenario: ", bad.what()));
  }
}

Result<Scenario> scenario_from_environment() {
  const char* path = std::getenv("RUBATO_SIM_SCENARIO");
  if (path == nullptr || *path == '\0') return Scenario{};
  const Result<std::string> text = read_small_file(path);
  if (!text) return fail(blame_environment(text.error()));
  Result<Scenario> scenario = parse_scenario(*text);
  if (!scenario) return fail(blame_environment(scenario.error()));
  return scenario;
}

Error blame_environment(Error error) {
  const char* path = std::getenv("RUBATO_SIM_SCENARIO");
  if (path == nullptr || *path == '\0') return error;
  error.what = cat("RUBATO_SIM_SCENARIO=", path, ": ", error.what);
  error.hint = cat("mend the file (docs/formats.md#scenario), or: unset RUBATO_SIM_SCENARIO");
  return error;
}

}  // namespace rubato::device::sim
