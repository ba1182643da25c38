#include <utility>

#include "cli/json_values.h"
#include "cli/report/validation_report.h"

namespace rubato::cli {
namespace {

using experiment::JudgedRow;
using experiment::JudgedWorkload;
using experiment::Validation;
using report::Amount;
using report::Array;
using report::Missing;
using report::Object;
using report::Value;

using cli::fraction;  // of what is there
Value fraction(const std::optional<double>& value) {
  return cli::fraction(value, "nothing to take a mean of");
}

void set_point(Object& out, const predict::KnobPoint& at) {
  if (at.power_limit) out.set("power_limit_w", Amount{at.power_limit->value(), "W"});
  if (at.sm_clock) out.set("sm_clock_mhz", Amount{at.sm_clock->value(), "MHz"});
  if (at.memory_clock) out.set("memory_clock_mhz", Amount{at.memory_clock->value(), "MHz"});
}

Value workload_json(const JudgedWorkload& w) {
  Array rows;
  for (const JudgedRow& row : w.rows) {
    Object one;
    set_point(one, row.at);
    one.set("probed", row.probed);
    one.set("time", fraction(row.time));
    one.set("energy", fraction(row.energy));
    one.set("predicted_time", fraction(row.predicted_time));
    one.set("predicted_energy", fraction(row.predicted_energy));
    one.set("time_inside_90", row.time_inside);
    one.set("energy_inside_90", row.energy_inside);
    rows.emplace_back(std::move(one));
  }
  Value chosen = Missing{"the default stays"};
  if (w.chosen) {
    Object point;
    set_point(point, *w.chosen);
    chosen = std::move(point);
  }
  return Object{{"gpu", w.gpu},
                {"workload", w.workload},
                {"group", w.group},
                {"default_assumed", w.default_assumed},
                {"energy_regret", fraction(w.energy_regret)},
                {"edp_regret", fraction(w.edp_regret)},
                {"chosen", std::move(chosen)},
                {"slowdown", fraction(w.slowdown)},
                {"saving", fraction(w.saving)},
                {"oracle_saving", fraction(w.oracle_saving)},
                {"rows", std::move(rows)}};
}

}  // namespace

Object validation_json(const ValidationReport& validation, bool every_workload) {
  const Validation& found = validation.found;
  Array knobs;
  for (const Knob knob : validation.options.knobs) knobs.emplace_back(name_of(knob));
  Object out{{"schema", "rubato.validate/1"},
             {"model", validation.model},
             {"knobs", std::move(knobs)},
             {"groups", found.groups},
             {"workloads", found.workloads},
             {"workloads_distinct", found.workloads_distinct},
             {"probes", validation.options.probes},
             {"host_watts", Amount{validation.options.host_watts.value(), "W"}},
             {"time_mape", fraction(found.errors.time)},
             {"energy_mape", fraction(found.errors.energy)},
             {"edp_mape", fraction(found.errors.edp)},
             {"energy_regret", fraction(found.energy_regret)},
             {"edp_regret", fraction(found.edp_regret)},
             {"noise_floor", Object{{"time_mape", fraction(validation.floor.time)},
                                    {"energy_mape", fraction(validation.floor.energy)},
                                    {"time_mape_between", fraction(validation.floor.time_between)},
                                    {"energy_mape_between", fraction(validation.floor.energy_between)}}},
             {"interval_coverage_90", fraction(found.coverage.both)},
             {"interval_coverage_90_time", fraction(found.coverage.time)},
             {"interval_coverage_90_energy", fraction(found.coverage.energy)},
             {"at_bound", Object{{"max_slowdown", fraction(validation.options.max_slowdown)},
                                 {"saving", fraction(found.at_bound.saving)},
                                 {"oracle_saving", fraction(found.at_bound.oracle_saving)},
                                 {"captured", fraction(found.at_bound.captured)},
                                 {"worst_slowdown", fraction(found.at_bound.worst_slowdown)}}},
             {"mean_curve", Object{{"time_mape", fraction(validation.mean_curve.errors.time)},
                                   {"energy_mape", fraction(validation.mean_curve.errors.energy)},
                                   {"energy_regret", fraction(validation.mean_curve.energy_regret)}}}};
  if (!every_workload) return out;
  Array workloads;
  for (const JudgedWorkload& w : found.judged) workloads.emplace_back(workload_json(w));
  out.set("per_workload", std::move(workloads));
  return out;
}

}  // namespace rubato::cli
