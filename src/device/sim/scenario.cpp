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
                                                            {"driver_reload", Effect::driver_reload}};
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

Fault fault_of(const Json& j) {
  check_fields(j, {"call", "after", "count", "effect", "error", "to_w", "wall_ms", "role"});
  Fault f;
  if (j.contains("call")) f.call = call_of(j.at("call"));
  f.after = j.value("after", std::uint64_t{0});
  f.count = j.value("count", std::uint64_t{1});
  f.effect = choose(j.at("effect"), "effect", kEffects);
  if (f.effect == Effect::error) f.error = choose(j.value("error", Json("unknown")), "error", kErrors);
  if (j.contains("to_w")) f.to = Watts(j.at("to_w").get<double>());
  f.wall = Seconds(j.value("wall_ms", 0.0) / 1000.0);
  f.role = j.value("role", "");
  if (f.role.size() > 31) throw Bad{"\"role\" is longer than 31 letters"};
  if ((f.effect == Effect::clamp || f.effect == Effect::foreign_limit) && !f.to)
    throw Bad{"this effect needs \"to_w\""};
  if (f.effect == Effect::clamp && f.call != CallId::set_power_limit)
    throw Bad{"only set_power_limit can clamp"};
  if (f.effect == Effect::lie && !(f.call && writes(*f.call)))
    throw Bad{"only a call that sets something can lie"};
  return f;
}

Scenario scenario_of(const Json& j) {
  check_fields(
      j, {"rights", "rate", "outlives_job", "seed", "temperature_c", "found", "faults", "energy_counter"});
  Scenario s;
  if (j.contains("rights")) s.rights = choose(j.at("rights"), "rights", kRights);
  s.rate = j.value("rate", 1.0);
  if (!(s.rate > 0.0 && s.rate <= 1000.0))
    throw Bad{cat("\"rate\" is ", s.rate, "; it must lie above 0, up to 1000")};
  s.outlives_job = j.value("outlives_job", true);
  s.seed = j.value("seed", std::uint64_t{1});
  s.energy_counter = j.value("energy_counter", true);
  if (j.contains("temperature_c")) s.temperature = Celsius(j.at("temperature_c").get<double>());
  if (j.contains("found")) {
    check_fields(j.at("found"), {"power_limit_w"});
    if (j.at("found").contains("power_limit_w"))
      s.found_power_limit = Watts(j["found"]["power_limit_w"].get<double>());
  }
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
  if (!text) return fail(text.error());
  Result<Scenario> scenario = parse_scenario(*text);
  if (!scenario) scenario.error().what = cat(path, ": ", scenario.error().what);
  return scenario;
}

}  // namespace rubato::device::sim
