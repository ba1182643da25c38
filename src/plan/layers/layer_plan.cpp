#include "plan/layers/layer_plan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json_fields.h"
#include "base/text.h"

namespace rubato::plan {
namespace {

using nlohmann::json;

constexpr std::string_view kSchema = "rubato.layer-plan/1";
// Beyond these it is damage, not a plan.
constexpr double kLongestS = 86'400;
constexpr double kMostJ = 1e9;
constexpr double kHighestMhz = 1e5;
constexpr double kMostParameters = 1e15;
constexpr std::size_t kMostPhases = 100'000;
// Phases follow each other without a gap: their durations add up to the iteration.
constexpr double kRounding = 1e-6;

using Bad = BadFigure;

json clocks_json(const predict::Clocks& clocks) {
  return {{"sm_clock_mhz", clocks.sm.value()}, {"memory_clock_mhz", clocks.memory.value()}};
}
predict::Clocks clocks_of(JsonFields& from) {
  return {Megahertz(from.number("sm_clock_mhz", 1, kHighestMhz)),
          Megahertz(from.number("memory_clock_mhz", 1, kHighestMhz))};
}

json cost_json(const PlannedCost& cost) {
  return {{"time_s", cost.time.value()}, {"energy_j", cost.energy.value()}};
}
PlannedCost cost_of(const json& object, const char* key) {
  JsonFields from(object, key);
  const PlannedCost cost{Seconds(from.number("time_s", 0, kLongestS)),
                         Joules(from.number("energy_j", 0, kMostJ))};
  from.close();
  return cost;
}

json phase_json(const PlannedPhase& phase) {
  json out = clocks_json(phase.clocks);
  out["first"] = phase.first;
  out["last"] = phase.last;
  out["pass"] = std::string(name_of(phase.pass));
  out["duration_s"] = phase.duration.value();
  out["energy_j"] = phase.energy.value();
  if (!phase.begins_pass) out["begins_pass"] = false;
  return out;
}
PlannedPhase phase_of(const json& object, std::size_t number) {
  JsonFields from(object, cat("phase ", number));
  PlannedPhase phase{.first = from.any_text("first"),
                     .last = from.any_text("last"),
                     .pass = from.named("pass", &parse_layer_pass),
                     .clocks = clocks_of(from),
                     .duration = Seconds(from.number("duration_s", 0, kLongestS)),
                     .energy = Joules(from.number("energy_j", 0, kMostJ))};
  phase.begins_pass =
      from.unless_null("begins_pass", [&] { return from.flag("begins_pass"); }).value_or(true);
  if (phase.duration <= Seconds(0)) from.wrong("duration_s", object["duration_s"], "more than 0");
  from.close();
  return phase;
}

void read_phases(JsonFields& from, LayerPlan& plan) {
  Seconds sum;
  for (const json& phase : from.list("phases", 1, kMostPhases)) {
    plan.phases.push_back(phase_of(phase, plan.phases.size() + 1));
    sum += plan.phases.back().duration;
  }
  if (abs(sum - plan.planned.time) > kRounding * plan.planned.time)
    throw Bad{
        cat("the phases last ", sum, " together, and have to last planned.time_s, ", plan.planned.time)};
}

LayerPlan plan_of(const json& document) {
  JsonFields from(document, "the plan");
  const std::string needed = cat("\"", kSchema, "\"");
  if (const json& schema = from.need("schema", needed); schema != kSchema)
    from.wrong("schema", schema, needed);
  LayerPlan plan;
  plan.board = from.any_text("board");
  from.need("uuid", "a text or null");
  plan.uuid = from.unless_null("uuid", [&] { return from.any_text("uuid"); });
  plan.network = from.any_text("network");
  plan.batch = from.whole<unsigned>("batch");
  plan.parameters =
      from.unless_null("parameters", [&] { return from.number("parameters", 0, kMostParameters); });
  plan.input = from.any_text("input");
  plan.precision = from.named("precision", &parse_precision);
  plan.only = from.unless_null("only_pass", [&] { return from.named("only_pass", &parse_layer_pass); });
  plan.strategy = from.any_text("strategy");
  plan.max_slowdown = from.number("max_slowdown", 0, 10);
  plan.kind = from.named("kind", &parse_kind);
  plan.memory_clock = from.flag("memory_clock");
  JsonFields single(from.need("single", "an object"), "single");
  plan.single = clocks_of(single);
  single.close();
  plan.at_default = cost_of(from.need("at_default", "an object"), "at_default");
  plan.at_single = cost_of(from.need("at_single", "an object"), "at_single");
  plan.planned = cost_of(from.need("planned", "an object"), "planned");
  plan.switching_delay = Seconds(from.number("switching_delay_s", 0, kLongestS));
  plan.dwell = Seconds(from.number("dwell_s", 0, kLongestS));
  read_phases(from, plan);
  from.close();
  return plan;
}

}  // namespace

std::string write_layer_plan(const LayerPlan& plan) {
  json phases = json::array();
  for (const PlannedPhase& phase : plan.phases) phases.push_back(phase_json(phase));
  json document = {{"schema", kSchema},
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
  if (plan.parameters) document["parameters"] = *plan.parameters;
  if (plan.only) document["only_pass"] = std::string(name_of(*plan.only));
  return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<LayerPlan> read_layer_plan(std::string_view text) {
  constexpr const char* kHint = "write the plan anew: rubato layers plan NETWORK --batch N -o FILE";
  const auto document = parse_json(text);
  if (!document) return fail(document.error().code, document.error().what, kHint);
  try {
    return plan_of(*document);
  } catch (const Bad& bad) {
    return fail(ErrorCode::invalid_argument, bad.what, kHint);
  }
}

}  // namespace rubato::plan
