#include <cmath>
#include <utility>

#include "cli/json_values.h"
#include "cli/report/advice_report.h"
#include "cli/report/run_report.h"
#include "plan/setting_of.h"

namespace rubato::cli {
namespace {

using report::Amount;
using report::Array;
using report::Missing;
using report::Object;
using report::Value;

// Of what is spent, as what is saved.
Value saved(const plan::Expected& spent) {
  return Object{{"median", fraction(1 - spent.median)},
                {"low", fraction(1 - spent.high)},
                {"high", fraction(1 - spent.low)}};
}

Value longer(const plan::Expected& time) {
  return Object{{"median", fraction(time.median - 1)},
                {"low", fraction(time.low - 1)},
                {"high", fraction(time.high - 1)}};
}

Value watts(const std::optional<Watts>& value, const char* why) {
  return value ? Value(Amount{value->value(), "W"}) : Value(Missing{why});
}

Value measured_json(const experiment::MeasuredDefault& measured) {
  const predict::Observed& at = measured.known.at_default;
  Object features;
  for (const auto& [name, value] : measured.known.features) features.set(name, Amount{value, "", 4});
  Array probes;
  for (const predict::Observed& probe : measured.known.probes)
    probes.emplace_back(Object{{"setting", setting_json(plan::setting_of(probe.at))},
                               {"time_s", Amount{probe.time.value(), "s", 4}},
                               {"energy_j", Amount{probe.energy.value(), "J"}}});
  Array gpus;
  for (const GpuIdentity& gpu : measured.gpus)
    gpus.emplace_back(Object{{"uuid", gpu.id.uuid}, {"index", gpu.index}, {"name", gpu.name}});
  return Object{{"gpus", std::move(gpus)},
                {"quality", name_of(measured.kind)},
                {"unit", measured.iterations > 0 ? "iteration" : "run"},
                {"iterations", measured.iterations},
                {"time_s", Amount{at.time.value(), "s", 4}},
                {"energy_j", Amount{at.energy.value(), "J"}},
                {"power_w", Amount{at.power().value(), "W"}},
                {"power_limit_w", watts(at.at.power_limit, "not told")},
                {"features", std::move(features)},
                {"probes", std::move(probes)}};
}

Value model_json(const AdviceReport& r) {
  Array seen;
  for (const std::string& gpu : r.model.gpus_seen) seen.emplace_back(gpu);
  Value unseen = Missing{"it saw too few GPUs to tell"};
  if (r.model.on_unseen_gpus)
    unseen = Object{{"low", fraction(r.model.on_unseen_gpus->low)},
                    {"high", fraction(r.model.on_unseen_gpus->high)}};
  return Object{{"name", r.model.name},
                {"gpus_seen", std::move(seen)},
                {"gpu_seen", r.advice.gpu_seen},
                {"saving_on_unseen_gpus", std::move(unseen)}};
}

}  // namespace

Object advice_json(const AdviceReport& r) {
  const experiment::Advice& advice = r.advice;
  const bool refused = !advice.refused.empty();
  Array knobs;
  for (const Knob knob : r.knobs) knobs.emplace_back(name_of(knob));
  Array command;
  for (const std::string& word : r.command) command.emplace_back(word);
  Value setting = Missing{"everything stays as it is"};
  if (advice.at) setting = setting_json(plan::setting_of(*advice.at));
  const std::string next = advised_command(r);
  Object out{{"schema", "rubato.advise/1"},
             {"run_id", r.run_id},
             {"command", std::move(command)},
             {"measured", measured_json(r.measured)},
             {"model", model_json(r)},
             {"objective", name_of(r.goal.objective)},
             {"max_slowdown", fraction(r.goal.max_slowdown)},
             {"host_watts", watts(r.goal.host_watts, "not given: the board alone counts")},
             {"second_w", watts(r.goal.second, "not given")},
             {"idle_w", watts(r.goal.idle, "not given")},
             {"knobs", std::move(knobs)},
             {"answer", refused     ? "refused"
                        : advice.at ? "set"
                                    : "stay"},
             {"why", refused ? advice.refused : advice.choice.why},
             {"setting", std::move(setting)},
             {"next_command", next.empty() ? Value(Missing{"nothing to do"}) : Value(next)}};
  if (refused) return out;
  out.set("objective_saved", saved(advice.choice.objective));
  out.set("energy_saved", saved(advice.choice.energy));
  out.set("slowdown", longer(advice.choice.time));
  out.set("holds", fraction(advice.choice.holds));
  out.set("price_of_a_second",
          Object{{"one_more_saves_j", watts(advice.price.slower, "nothing slower saves energy")},
                 {"one_less_costs_j", watts(advice.price.faster, "nothing is faster")}});
  return out;
}

}  // namespace rubato::cli
