#include "cli/report/compare_report.h"
#include "cli/report/run_report.h"

namespace rubato::cli {
namespace {

using report::Amount;
using report::Array;
using report::Missing;
using report::Object;
using report::Value;

Value known(const std::optional<double>& value) {
  return value ? Value(Amount{*value, ""}) : Value(Missing{});
}

Value metric_json(const analyse::Metric& metric) {
  Object out{{"a", known(metric.a)}, {"b", known(metric.b)}};
  const auto& d = metric.difference;
  out.set("difference", d ? Value(Amount{d->fraction, ""}) : Value(Missing{}));
  out.set("range", name_of(d ? d->range : analyse::Range::none));
  const bool interval = d && d->interval;
  out.set("low", interval ? Value(Amount{d->interval->low, ""}) : Value(Missing{}));
  out.set("high", interval ? Value(Amount{d->interval->high, ""}) : Value(Missing{}));
  out.set("distinguishable", d && d->distinguishable ? Value(*d->distinguishable) : Value(Missing{}));
  if (!d)
    out.set("why_no_difference", metric.why_no_difference);
  else if (!interval)
    out.set("why_no_range", d->why_no_interval);
  return out;
}

Value side_json(const analyse::Side& side, const Setting& settled) {
  const auto& run = side.run;
  Array command;
  for (const std::string& argument : run.info.command) command.emplace_back(argument);
  Array gpus;
  for (const auto& gpu : side.summary.gpus)
    gpus.emplace_back(Object{{"uuid", gpu.identity.id.uuid},
                             {"name", gpu.identity.name},
                             {"quality", name_of(gpu.kind)},
                             {"found", setting_json(gpu.found.value_or(Setting{}))},
                             {"requested", setting_json(gpu.requested.value_or(Setting{}))}});
  return Object{{"run_id", run.info.run_id},
                {"mode", run.info.mode},
                {"command", std::move(command)},
                {"started_at", run.info.started_at},
                {"complete", run.end.has_value()},
                {"running", side.running},
                {"exit_status", run.end ? exit_status_json(run.end->exit_code, run.end->exit_signal)
                                        : Value(Missing{"the record has no end"})},
                {"iterations", run.iterations.size()},
                {"gpus", std::move(gpus)},
                {"settled_setting", setting_json(settled)}};
}

}  // namespace

Value compare_json(const analyse::Side& a, const analyse::Side& b, const analyse::Comparison& c) {
  Array differing;
  for (const auto& fact : c.differing)
    differing.emplace_back(Object{{"name", fact.name}, {"a", fact.a}, {"b", fact.b}});
  Array warnings;
  for (const auto& warning : c.warnings)
    warnings.emplace_back(Object{{"code", warning.code}, {"sentence", warning.sentence}});
  return Object{{"schema", "rubato.compare/1"},
                {"a", side_json(a, c.settled_a)},
                {"b", side_json(b, c.settled_b)},
                {"whole_run", Object{{"time_s", metric_json(c.time)},
                                     {"energy_j", metric_json(c.energy)},
                                     {"mean_power_w", metric_json(c.mean_power)},
                                     {"energy_delay_js", metric_json(c.energy_delay)}}},
                {"per_iteration", Object{{"time_s", metric_json(c.iteration_time)},
                                         {"energy_j", metric_json(c.iteration_energy)},
                                         {"energy_delay_js", metric_json(c.iteration_energy_delay)}}},
                {"confidence", Amount{analyse::kConfidence, ""}},
                {"differing", std::move(differing)},
                {"warnings", std::move(warnings)}};
}

}  // namespace rubato::cli
