#include "plan/layers/layer_plan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json_figures.h"
#include "base/text.h"

namespace rubato::plan {
namespace {

using nlohmann::json;

constexpr std::string_view kSchema = "rubato.layer-plan/1";
// Beyond these it is damage, not a plan.
constexpr double kLongestS = 86'400;
constexpr double kMostJ = 1e9;
constexpr double kHighestMhz = 1e5;
constexpr std::size_t kMostPhases = 100'000;
// Phases follow each other without a gap: their durations add up to the iteration.
constexpr double kRounding = 1e-6;

using Bad = BadFigure;

/// No more than these: what is not understood may matter.
void only(const json& object, const char* where, std::initializer_list<std::string_view> keys) {
  if (!object.is_object()) throw Bad{cat(where, " is ", object.dump(), ", and has to be an object")};
  for (const auto& [key, value] : object.items())
    if (std::find(keys.begin(), keys.end(), key) == keys.end())
      throw Bad{cat(where, " has a field ", key, " that ", kSchema, " does not know")};
}

template <class T>
T checked(Result<T> parsed) {
  if (!parsed) throw Bad{parsed.error().what};
  return *parsed;
}

json clocks_json(const predict::Clocks& clocks) {
  return {{"sm_clock_mhz", clocks.sm.value()}, {"memory_clock_mhz", clocks.memory.value()}};
}
predict::Clocks clocks_at(const json& object) {
  return {Megahertz(number_at(object, "sm_clock_mhz", 1, kHighestMhz)),
          Megahertz(number_at(object, "memory_clock_mhz", 1, kHighestMhz))};
}

json cost_json(const PlannedCost& cost) {
  return {{"time_s", cost.time.value()}, {"energy_j", cost.energy.value()}};
}
PlannedCost cost_at(const json& document, const char* key) {
  const json& object = document.at(key);
  only(object, key, {"time_s", "energy_j"});
  return {Seconds(number_at(object, "time_s", 0, kLongestS)),
          Joules(number_at(object, "energy_j", 0, kMostJ))};
}

json phase_json(const PlannedPhase& phase) {
  json out = clocks_json(phase.clocks);
  out["first"] = phase.first;
  out["last"] = phase.last;
  out["pass"] = std::string(name_of(phase.pass));
  out["duration_s"] = phase.duration.value();
  out["energy_j"] = phase.energy.value();
  return out;
}
PlannedPhase phase_at(const json& object) {
  only(object, "a phase",
       {"first", "last", "pass", "sm_clock_mhz", "memory_clock_mhz", "duration_s", "energy_j"});
  PlannedPhase phase{.first = object.at("first").get<std::string>(),
                     .last = object.at("last").get<std::string>(),
                     .pass = checked(parse_layer_pass(object.at("pass").get<std::string>())),
                     .clocks = clocks_at(object),
                     .duration = Seconds(number_at(object, "duration_s", 0, kLongestS)),
                     .energy = Joules(number_at(object, "energy_j", 0, kMostJ))};
  if (phase.duration <= Seconds(0)) throw Bad{"duration_s of a phase is 0, and has to be more"};
  return phase;
}

LayerPlan plan_of(const json& document) {
  only(document, "the plan",
       {"schema", "board", "uuid", "network", "batch", "input", "precision", "strategy", "max_slowdown",
        "kind", "memory_clock", "single", "at_default", "at_single", "planned", "switching_delay_s",
        "dwell_s", "phases"});
  if (document.at("schema") != kSchema)
    throw Bad{cat("schema is ", document.at("schema").dump(), ", and has to be \"", kSchema, "\"")};
  LayerPlan plan;
  plan.board = document.at("board").get<std::string>();
  if (!document.at("uuid").is_null()) plan.uuid = document.at("uuid").get<std::string>();
  plan.network = document.at("network").get<std::string>();
  plan.batch = whole_of<unsigned>(document.at("batch"));
  plan.input = document.at("input").get<std::string>();
  plan.precision = checked(parse_precision(document.at("precision").get<std::string>()));
  plan.strategy = document.at("strategy").get<std::string>();
  plan.max_slowdown = number_at(document, "max_slowdown", 0, 10);
  plan.kind = checked(parse_kind(document.at("kind").get<std::string>()));
  plan.memory_clock = document.at("memory_clock").get<bool>();
  only(document.at("single"), "single", {"sm_clock_mhz", "memory_clock_mhz"});
  plan.single = clocks_at(document.at("single"));
  plan.at_default = cost_at(document, "at_default");
  plan.at_single = cost_at(document, "at_single");
  plan.planned = cost_at(document, "planned");
  plan.switching_delay = Seconds(number_at(document, "switching_delay_s", 0, kLongestS));
  plan.dwell = Seconds(number_at(document, "dwell_s", 0, kLongestS));
  const json& phases = document.at("phases");
  if (!phases.is_array() || phases.empty() || phases.size() > kMostPhases)
    throw Bad{cat("phases has ", phases.size(), " entries, and has to have 1 to ", kMostPhases)};
  Seconds sum;
  for (const json& phase : phases) {
    plan.phases.push_back(phase_at(phase));
    sum += plan.phases.back().duration;
  }
  if (abs(sum - plan.planned.time) > kRounding * plan.planned.time)
    throw Bad{
        cat("the phases last ", sum, " together, and have to last planned.time_s, ", plan.planned.time)};
  return plan;
}

}  // namespace

std::string write_layer_plan(const LayerPlan& plan) {
  json phases = json::array();
  for (const PlannedPhase& phase : plan.phases) phases.push_back(phase_json(phase));
  const json document = {{"schema", kSchema},
                         {"board", plan.board},
                         {"uuid", plan.uuid ? json(*plan.uuid) : json(nullptr)},
                         {"network", plan.network},
                         {"batch", plan.batch},
                         {"input", plan.input},
                         {"precision", std::string(name_of(plan.precision))},
                         {"strategy", plan.strategy},
                         {"max_slowdown", plan.max_slowdown},
                         {"kind", std::string(name_of(plan.kind))},
                         {"memory_clock", plan.memory_clock},
                         {"single", clocks_json(plan.single)},
                         {"at_default", cost_json(plan.at_default)},
                         {"at_single", cost_json(plan.at_single)},
                         {"planned", cost_json(plan.planned)},
                         {"switching_delay_s", plan.switching_delay.value()},
                         {"dwell_s", plan.dwell.value()},
                         {"phases", std::move(phases)}};
  return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<LayerPlan> read_layer_plan(std::string_view text) {
  constexpr const char* kHint = "write the plan anew: rubato layers plan NETWORK --batch N -o FILE";
  const json document = json::parse(text, nullptr, false);
  if (document.is_discarded())
    return fail(ErrorCode::invalid_argument, "this is no JSON, and a layer plan has to be", kHint);
  try {
    return plan_of(document);
  } catch (const Bad& bad) {
    return fail(ErrorCode::invalid_argument, bad.what, kHint);
  } catch (const json::exception& error) {
    return fail(ErrorCode::invalid_argument, cat("no layer plan: ", error.what()), kHint);
  }
}

}  // namespace rubato::plan
