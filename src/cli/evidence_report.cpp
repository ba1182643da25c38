#include "cli/evidence_report.h"

#include <algorithm>
#include <set>

#include "cli/report/page.h"
#include "experiment/sweep_grid.h"

namespace rubato::cli {
namespace {

using Json = nlohmann::ordered_json;

template <class Quantity>
std::string values_of(const experiment::EvidencePlan& plan,
                      std::optional<Quantity> predict::KnobPoint::*knob) {
  std::set<double> values;
  for (const predict::KnobPoint& at : plan.points)
    if (at.*knob) values.insert((at.*knob)->value());
  std::string out;
  for (const double v : values) out += cat(out.empty() ? "" : ", ", number(v, 1));
  return out;
}

std::string times_text(const Json& times) {
  if (!times["median_s"].is_number()) return "not seen";
  const auto at = [&times](const char* key) { return text_of(Seconds(times[key].get<double>())); };
  return cat(at("median_s"), " (", at("least_s"), " to ", at("most_s"), ")");
}

std::string setting_text(const Json& at) {
  predict::KnobPoint point;
  if (at["power_limit_w"].is_number()) point.power_limit = Watts(at["power_limit_w"].get<double>());
  if (at["sm_clock_mhz"].is_number()) point.sm_clock = Megahertz(at["sm_clock_mhz"].get<double>());
  return experiment::describe(point);
}

std::string change_text(const Json& mean) {
  const double percents = mean["mean"].get<double>() * 100;
  std::string out = cat(percents >= 0.05 ? "+" : "", fixed(percents, 1), " %");
  if (mean["half_width_95"].is_number())
    out += cat(" ± ", fixed(mean["half_width_95"].get<double>() * 100, 1));
  return out;
}

}  // namespace

std::string evidence_plan_text(const experiment::EvidencePlan& plan, const EvidenceFacts& facts,
                               const std::string& file, const report::TextOptions& options) {
  Page page(options);
  page.line(cat("rubato evidence · ", facts.name, facts.kind == Kind::modelled ? " (simulated)" : ""),
            Ink::bold);
  std::string takes = cat("takes about ", text_of(plan.length() / facts.clock_rate));
  if (facts.clock_rate != 1)
    takes += cat(": ", text_of(plan.length()), " of a simulated clock that runs ",
                 number(facts.clock_rate, 1), " times as fast as the wall");
  page.say(takes);
  if (const std::string watts = values_of(plan, &predict::KnobPoint::power_limit); !watts.empty())
    page.say(cat("sets power limits of ", watts, " W, and puts back ",
                 facts.found_limit ? cat(*facts.found_limit) : std::string("the one that is found")));
  if (const std::string clocks = values_of(plan, &predict::KnobPoint::sm_clock); !clocks.empty())
    page.say(cat("locks the SM clock to ", clocks, " MHz, and unlocks it"));
  for (const auto& run : plan.runs)
    page.say(cat(run.kernel, ": ", run.sweep.size(), " steps of the sweep",
                 run.steps.size() > run.sweep.size()
                     ? cat(" and ", plan.blocks, " x (found, other, other, found) with ",
                           experiment::describe(plan.other))
                     : std::string(),
                 ", ", text_of(run.length)));
  for (const auto& target : plan.switches.targets)
    page.say(
        cat("switching: ", plan.switches.cycles, " times to ", experiment::describe(target), " and back"));
  for (const auto& part : facts.left_out) page.say(cat("without ", part.part, ": ", part.why));
  page.say(
      cat("writes ", file, "; Ctrl-C ends it early, with everything put back and what was measured in it"));
  return page.take();
}

Json evidence_plan_json(const experiment::EvidencePlan& plan, const EvidenceFacts& facts) {
  Json runs = Json::array();
  for (const auto& run : plan.runs)
    runs.push_back({{"kernel", run.kernel},
                    {"sweep_steps", run.sweep.size()},
                    {"block_steps", run.steps.size() - run.sweep.size()},
                    {"length_s", run.length.value()}});
  Json points = Json::array();
  for (const auto& at : plan.points)
    points.push_back({{"power_limit_w", at.power_limit ? Json(at.power_limit->value()) : Json()},
                      {"sm_clock_mhz", at.sm_clock ? Json(at.sm_clock->value()) : Json()}});
  Json missing = Json::array();
  for (const auto& part : facts.left_out) missing.push_back({{"part", part.part}, {"why", part.why}});
  return {{"schema", "rubato.evidence_plan/1"},
          {"gpu", facts.name},
          {"kind", name_of(facts.kind)},
          {"length_s", plan.length().value()},
          {"clock_rate", facts.clock_rate},
          {"puts_back_w", facts.found_limit ? Json(facts.found_limit->value()) : Json()},
          {"settings", std::move(points)},
          {"runs", std::move(runs)},
          {"switch_cycles", plan.switches.cycles},
          {"missing", std::move(missing)}};
}

std::string evidence_text(const Json& document, const std::string& file, const report::TextOptions& options) {
  Page page(options);
  const bool complete = document["complete"].get<bool>();
  page.line(cat("evidence ", complete ? "complete" : "not complete", ": ", file), Ink::bold);
  for (const Json& m : document["missing"])
    page.say(cat("missing: ", m["part"].get<std::string>(), ": ", m["why"].get<std::string>()));
  if (const Json& blocks = document["control_blocks"]; blocks.is_object() && blocks["effect"].is_object())
    page.say(cat(blocks["kernel"].get<std::string>(), " at ", setting_text(blocks["other"]),
                 " against found: time ", change_text(blocks["effect"]["time_change"]), ", energy ",
                 change_text(blocks["effect"]["energy_change"]), "; drift of energy within a cycle ",
                 change_text(blocks["effect"]["energy_drift"])));
  if (const Json& switching = document["switching"]; switching.is_object())
    for (const Json& d : switching["directions"])
      page.say(cat(setting_text(d["from"]), " to ", setting_text(d["to"]), ": clock after ",
                   times_text(d["sm_clock"]), ", power after ", times_text(d["power"])));
  const Json& limit = document["power_limit"];
  if (limit["restored"].is_boolean())
    page.say(
        limit["restored"].get<bool>()
            ? cat("the power limit is ", number(limit["after_w"].get<double>(), 1), " W, as it was found")
            : cat("the power limit is ", number(limit["after_w"].get<double>(), 1), " W and was ",
                  number(limit["before_w"].get<double>(), 1), " W: rubato restore"));
  if (document["kind"] == "measured")
    page.say(
        "It names no person, machine or serial number. Look it over, then share it: "
        "docs/evidence-howto.md");
  return page.take();
}

}  // namespace rubato::cli
