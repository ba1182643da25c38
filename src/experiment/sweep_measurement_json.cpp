#include "experiment/sweep_measurement_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_figures.h"
#include "base/text.h"

namespace rubato::experiment {
namespace {

using nlohmann::json;

template <class Unit>
void put(json& to, const char* key, const std::optional<Unit>& value) {
  if (value) to[key] = value->value();
}

template <class Unit>
std::optional<Unit> get(const json& from, const char* key) {
  if (!from.contains(key)) return std::nullopt;
  return Unit(from.at(key).get<double>());
}

json point_json(const predict::KnobPoint& at) {
  json out = json::object();
  put(out, "power_limit_w", at.power_limit);
  put(out, "sm_clock_mhz", at.sm_clock);
  put(out, "memory_clock_mhz", at.memory_clock);
  return out;
}

}  // namespace

json measurement_json(const SweepMeasurement& m) {
  json reached = json::object();
  put(reached, "sm_clock_mhz", m.reached.sm_clock);
  put(reached, "memory_clock_mhz", m.reached.memory_clock);
  put(reached, "enforced_limit_w", m.reached.enforced_limit);
  reached["limiters"] = m.reached.limiters;
  json out = {{"at", point_json(m.at)},
              {"repeat", m.repeat},
              {"warmup", m.warmup},
              {"session", m.session},
              {"run_id", m.run_id},
              {"time_s", m.time.value()},
              {"energy_j", m.energy.value()},
              {"boards", m.boards},
              {"energy_band", m.energy_band},
              {"iterations", m.iterations},
              {"kind", std::string(name_of(m.kind))},
              {"reached", std::move(reached)},
              {"not_used", m.not_used},
              {"notes", m.notes},
              {"features", m.features}};
  put(out, "temperature_c", m.temperature);
  put(out, "temperature_halfway_c", m.temperature_halfway);
  return out;
}

Result<SweepMeasurement> read_measurement(const json& from) {
  try {
    SweepMeasurement m;
    const json& at = from.at("at");
    m.at = {get<Watts>(at, "power_limit_w"), get<Megahertz>(at, "sm_clock_mhz"),
            get<Megahertz>(at, "memory_clock_mhz")};
    m.repeat = whole_of<unsigned>(from.at("repeat"));
    m.warmup = from.at("warmup").get<bool>();
    m.session = whole_of<unsigned>(from.at("session"));
    m.run_id = from.at("run_id").get<std::string>();
    m.time = Seconds(from.at("time_s").get<double>());
    m.energy = Joules(from.at("energy_j").get<double>());
    if (from.contains("boards")) m.boards = std::max(1U, whole_of<unsigned>(from.at("boards")));
    m.energy_band = from.at("energy_band").get<double>();
    m.iterations = whole_of<std::int64_t>(from.at("iterations"));
    const auto kind = parse_kind(from.at("kind").get<std::string>());
    if (!kind) return fail(kind.error());
    m.kind = *kind;
    const json& reached = from.at("reached");
    m.reached = {get<Megahertz>(reached, "sm_clock_mhz"), get<Megahertz>(reached, "memory_clock_mhz"),
                 get<Watts>(reached, "enforced_limit_w"),
                 reached.at("limiters").get<std::vector<std::string>>()};
    m.not_used = from.at("not_used").get<std::string>();
    m.notes = from.at("notes").get<std::vector<std::string>>();
    m.features = from.at("features").get<std::map<std::string, double>>();
    m.temperature = get<Celsius>(from, "temperature_c");
    m.temperature_halfway = get<Celsius>(from, "temperature_halfway_c");
    if (m.used() && (m.time <= Seconds(0) || m.energy <= Joules(0)))
      return fail(ErrorCode::corrupt, "a measurement took no time or no energy");
    return m;
  } catch (const json::exception& error) {
    return fail(ErrorCode::corrupt, error.what());
  }
}

}  // namespace rubato::experiment
