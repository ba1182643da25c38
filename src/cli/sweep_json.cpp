#include "base/text.h"
#include "cli/sweep_report.h"

namespace rubato::cli {
namespace {

using experiment::Quotient;
using experiment::SweptSetting;
using report::Amount;
using report::Array;
using report::Missing;
using report::Object;
using report::Value;

template <class Unit>
Value known(const std::optional<Unit>& value) {
  return value ? Value(Amount{value->value(), ""}) : Value(Missing{});
}

Value known(const std::optional<double>& value) {
  return value ? Value(Amount{*value, ""}) : Value(Missing{});
}

Array texts(const std::vector<std::string>& lines) {
  Array out;
  for (const auto& line : lines) out.emplace_back(line);
  return out;
}

Object point_json(const predict::KnobPoint& at) {
  return Object{{"power_limit_w", known(at.power_limit)},
                {"sm_clock_mhz", known(at.sm_clock)},
                {"memory_clock_mhz", known(at.memory_clock)}};
}

Value quotient_json(const Quotient& q) {
  return Object{{"value", Amount{q.value, ""}}, {"low_90", known(q.low)}, {"high_90", known(q.high)}};
}

Value setting_json(const SweptSetting& s, bool used) {
  Object out{{"setting", point_json(s.at)}, {"default", s.is_default()}, {"used", used}, {"runs", s.runs}};
  if (used) {
    out.set("time_s", Amount{s.time.value(), "s"});
    out.set("energy_j", Amount{s.energy.value(), "J"});
    out.set("power_w", Amount{s.power().value(), "W"});
    out.set("time_over_default", quotient_json(s.time_over_default));
    out.set("energy_over_default", quotient_json(s.energy_over_default));
    out.set("edp_over_default", quotient_json(s.edp_over_default));
  }
  out.set("reached", Object{{"sm_clock_mhz", known(s.reached.sm_clock)},
                            {"memory_clock_mhz", known(s.reached.memory_clock)},
                            {"enforced_limit_w", known(s.reached.enforced_limit)},
                            {"limiters", texts(s.reached.limiters)}});
  out.set("not_used", texts(s.not_used));
  out.set("notes", texts(s.notes));
  return out;
}

Value best_json(const experiment::SweepSummary& summary, const experiment::Best& best) {
  Array as_good;
  for (const std::size_t i : best.as_good) as_good.emplace_back(point_json(summary.settings[i].at));
  return Object{{"setting", point_json(summary.settings[best.setting].at)},
                {"not_distinguishable", std::move(as_good)}};
}

Array drift_json(const experiment::SweepSummary& summary) {
  Array out;
  for (const auto& drift : summary.drift)
    out.emplace_back(Object{{"session", drift.session},
                            {"controls", drift.controls},
                            {"time", known(drift.time)},
                            {"energy", known(drift.energy)},
                            {"time_taken_out", drift.time_taken_out},
                            {"energy_taken_out", drift.energy_taken_out}});
  return out;
}

Array runs_json(const std::vector<experiment::SweepMeasurement>& measured) {
  Array out;
  for (const auto& m : measured)
    out.emplace_back(Object{{"run_id", m.run_id},
                            {"session", m.session},
                            {"setting", point_json(m.at)},
                            {"warmup", m.warmup},
                            {"time_s", Amount{m.time.value(), "s"}},
                            {"energy_j", Amount{m.energy.value(), "J"}},
                            {"energy_band_fraction", Amount{m.energy_band, ""}},
                            {"iterations", m.iterations},
                            {"temperature_c", known(m.temperature)},
                            {"not_used", m.not_used.empty() ? Value(Missing{}) : Value(m.not_used)}});
  return out;
}

Object heading(const SweepPlan& plan, const SweepFacts& facts) {
  return Object{{"schema", "rubato.sweep/1"},   {"command", plan.command},   {"gpu", facts.gpu},
                {"uuids", texts(facts.uuids)},  {"workload", plan.workload}, {"group", plan.group},
                {"table", plan.output.string()}};
}

void set_best(Object& out, const SweepReport& r) {
  const auto& summary = *r.summary;
  out.set("best", Object{{"energy", best_json(summary, r.choices->energy)},
                         {"edp", best_json(summary, r.choices->edp)},
                         {"time", best_json(summary, r.choices->time)}});
  if (r.choices->inside)
    out.set("best_inside_bound",
            Object{{"max_slowdown", Amount{*r.plan.max_slowdown, ""}},
                   {"setting", point_json(summary.settings[r.choices->inside->setting].at)},
                   {"surely", r.choices->inside->surely}});
  else
    out.set("best_inside_bound", Missing{"no --max-slowdown was given"});
  Array front;
  for (const std::size_t i : r.choices->front) front.emplace_back(point_json(summary.settings[i].at));
  out.set("pareto_front", std::move(front));
}

}  // namespace

Value sweep_json(const SweepReport& r) {
  Object out = heading(r.plan, r.facts);
  out.set("unit_of_work", r.options.within ? "iteration" : "command");
  out.set("complete", r.end.why.empty());
  out.set("why_not_complete", r.end.why.empty() ? Value(Missing{}) : Value(r.end.why));
  out.set("found_power_limit_w", known(r.facts.found_limit));
  Array settings;
  Array skipped;
  for (const auto& [at, why] : r.end.skipped)
    skipped.emplace_back(Object{{"setting", point_json(at)}, {"why", why}});
  if (r.summary != nullptr) {
    const auto& summary = *r.summary;
    out.set("quality", name_of(summary.kind));
    for (const auto& s : summary.settings) settings.emplace_back(setting_json(s, true));
    for (const auto& s : summary.lost) settings.emplace_back(setting_json(s, false));
    out.set("settings", std::move(settings));
    if (r.choices != nullptr)
      set_best(out, r);
    else
      out.set("why_no_result", r.why_not);
    out.set("drift", drift_json(summary));
    out.set(
        "scatter",
        Object{{"time", summary.degrees > 0 ? Value(Amount{summary.time_scatter, ""}) : Value(Missing{})},
               {"energy", summary.degrees > 0 ? Value(Amount{summary.energy_scatter, ""}) : Value(Missing{})},
               {"degrees_of_freedom", Amount{summary.degrees, ""}}});
  } else {
    out.set("settings", std::move(settings));
    out.set("why_no_result", r.why_not);
  }
  out.set("left_out", std::move(skipped));
  out.set("runs", runs_json(r.measured));
  return out;
}

Value sweep_plan_json(const SweepPlan& plan, const SweepFacts& facts,
                      const std::vector<experiment::SweepMeasurement>& measured) {
  Object out = heading(plan, facts);
  out.set("dry_run", true);
  out.set("warmup_runs_at_most", plan.warmup);
  Array steps;
  for (const auto& step : experiment::sweep_schedule(facts.points.size(), plan.schedule))
    steps.emplace_back(point_json(step.point ? facts.points[*step.point] : predict::KnobPoint{}));
  const auto each = wall_of_one_run(measured, facts.clock_rate);
  out.set("wall_of_one_run_s",
          each ? Value(Amount{each->value(), "s"}) : Value(Missing{"no run has been measured yet"}));
  out.set("steps", std::move(steps));
  out.set("notes", texts(facts.notes));
  return out;
}

}  // namespace rubato::cli
