#include "base/text.h"
#include "cli/report/parts_json.h"
#include "cli/report/run_report.h"
#include "cli/report/search_report.h"

namespace rubato::cli {

using report::Amount;
using report::Array;
using report::Missing;
using report::Object;
using report::Value;

namespace {

template <class Q>
Value amount(const std::optional<Q>& quantity, const char* unit, const std::string& why = {}) {
  if (!quantity) return Missing{why};
  return Amount{quantity->value(), unit};
}
Value fraction(const std::optional<double>& value, const char* unit = "") {
  if (!value) return Missing{};
  return Amount{*value, unit, 4};
}

Value range(const std::optional<ClockRange>& r) {
  if (!r) return Missing{"not set"};
  return Object{{"min", Amount{r->min.value(), "MHz", 0}}, {"max", Amount{r->max.value(), "MHz", 0}}};
}

Value gpu(const analyse::GpuSummary& g) {
  const auto& e = g.energy;
  const auto part = [&](auto get, const char* unit) -> Value {
    if (!e) return Missing{g.why_no_energy};
    return Amount{get(*e).value(), unit};
  };
  Object out{
      {"uuid", g.identity.id.uuid},
      {"name", g.identity.name},
      {"index", g.identity.index},
      {"quality", name_of(g.kind)},
      {"energy_j", part([](const EnergyWindow& w) { return w.energy; }, "J")},
      {"energy_band_sampling_j", part([](const EnergyWindow& w) { return w.band_sampling; }, "J")},
      {"energy_band_calibration_j", part([](const EnergyWindow& w) { return w.band_calibration; }, "J")},
      {"energy_source", e ? Value(e->source.name) : Value(Missing{g.why_no_energy})},
      {"energy_source_detail", e ? Value(e->source.quality) : Value(Missing{g.why_no_energy})},
      {"mean_power_w", part([](const EnergyWindow& w) { return w.mean_power(); }, "W")},
      {"measured_s", part([](const EnergyWindow& w) { return w.duration(); }, "s")},
      {"found", setting_json(g.found.value_or(Setting{}))},
      {"requested", setting_json(g.requested.value_or(Setting{}))},
      {"restoration",
       g.restoration ? Value(name_of(*g.restoration)) : Value(Missing{"the record was cut short"})},
      {"restoration_detail", g.restoration_detail}};
  if (!e) out.set("why_no_energy", g.why_no_energy);
  return out;
}

// GPUs that were measured and on which the job never computed.
Array bystanders(const record::RunRecord& run) {
  Array out;
  for (const record::Bystander& b : run.bystanders)
    out.emplace_back(Object{{"uuid", b.identity.id.uuid},
                            {"name", b.identity.name},
                            {"index", b.identity.index},
                            {"quality", name_of(b.kind)},
                            {"energy_j", b.energy ? Value(Amount{b.energy->energy.value(), "J"})
                                                  : Value(Missing{"it could not be read"})}});
  return out;
}

Value savings(const analyse::Savings& s) {
  return Object{
      {"kind", name_of(s.kind)},
      {"energy_per_iteration_saved", estimate_json(s.energy_per_iteration)},
      {"slowdown", estimate_json(s.slowdown)},
      {"edp_per_iteration_saved", estimate_json(s.edp_per_iteration)},
      {"ed2p_per_iteration_saved", estimate_json(s.ed2p_per_iteration)},
      {"whole_run",
       Object{
           {"energy_saved_j", Amount{s.run_saved.value(), "J"}},
           {"energy_saved", estimate_json(s.run_energy)},
           {"longer_s", Amount{s.run_longer.value(), "s"}},
           {"slowdown", estimate_json(s.run_slowdown)},
           {"energy_saved_with_host_j", amount(s.run_saved_with_host, "J", "the host's watts are not known")},
           {"vanishes_at_host_w", amount(s.vanishes_at_host, "W", "more watts would not undo it")}}},
      {"iterations_found", s.found_iterations},
      {"iterations_hold", s.hold_iterations},
      {"confidence", Amount{analyse::kConfidence, ""}},
      {"method", s.method}};
}

Value settings(const std::vector<analyse::SettingSummary>& all) {
  Array out;
  for (const analyse::SettingSummary& s : all)
    out.emplace_back(Object{{"role", name_of(s.role)},
                            {"setting", setting_json(s.setting)},
                            {"stretches", s.stretches},
                            {"time_s", Amount{s.time.value(), "s"}},
                            {"iterations", s.iterations},
                            {"energy_j", amount(s.energy, "J")},
                            {"energy_per_iteration_j", amount(s.energy_per_iteration, "J")},
                            {"iteration_time_s", amount(s.iteration_time, "s")},
                            {"mean_power_w", amount(s.mean_power, "W")}});
  return out;
}

Value own_cost(const analyse::OwnCostSummary& c) {
  return Object{{"cpu_s", Amount{c.cpu.value(), "s", 3}},
                {"cpu_fraction", fraction(c.cpu_fraction)},
                {"driver_calls", c.driver.calls},
                {"driver_s", Amount{c.driver.inside.value(), "s", 3}},
                {"driver_fraction", fraction(c.driver_fraction)},
                {"wall_s", amount(c.wall, "s")},
                {"ticks", c.ticks},
                {"bytes_written", c.bytes_written},
                {"bytes_per_tick", fraction(c.bytes_per_tick, "B")}};
}

}  // namespace

Value setting_json(const Setting& s) {
  Object out{{"power_limit_w", amount(s.power_limit, "W", "not set")},
             {"sm_clock_mhz", range(s.sm_clock)},
             {"memory_clock_mhz", range(s.memory_clock)},
             {"application_clocks_mhz", Missing{"not set"}}};
  if (const auto& a = s.application_clocks)
    out.set("application_clocks_mhz",
            Object{{"memory", Amount{a->memory.value(), "MHz", 0}}, {"sm", Amount{a->sm.value(), "MHz", 0}}});
  return out;
}

Value exit_status_json(const std::optional<int>& code, const std::optional<int>& signal) {
  if (code) return Object{{"code", *code}};
  if (signal) return Object{{"signal", *signal}};
  return Missing{"the job's end was not seen"};
}

Value run_report_json(const record::RunRecord& run, const analyse::Summary& summary, bool running,
                      const analyse::Factors& factors) {
  const auto since_begin = [&run](TimePoint t) { return Amount{(t - run.info.begin).value(), "s", 3}; };
  Array command;
  for (const std::string& argument : run.info.command) command.emplace_back(argument);
  Array gpus;
  for (const analyse::GpuSummary& g : summary.gpus) gpus.push_back(gpu(g));
  Array decisions;
  for (const record::Decision& d : run.decisions)
    decisions.emplace_back(Object{{"at_s", since_begin(d.at)},
                                  {"action", d.action},
                                  {"setting", setting_json(d.setting)},
                                  {"why", d.why}});
  Array changes;
  for (const record::SettingChange& c : run.setting_changes)
    changes.emplace_back(Object{{"at_s", since_begin(c.at)},
                                {"gpu", c.gpu.uuid},
                                {"who", c.who},
                                {"asked", setting_json(c.asked)},
                                {"requested", setting_json(c.requested)},
                                {"enforced_w", amount(c.enforced, "W")},
                                {"reached_sm_clock_mhz", amount(c.reached_sm_clock, "MHz")},
                                {"outcome", c.outcome}});
  Array gaps;
  for (const record::Gap& g : run.gaps) {
    const bool of_meter = g.channel && *g.channel < run.channels.size();
    gaps.emplace_back(
        Object{{"begin_s", since_begin(g.begin)},
               {"end_s", since_begin(g.end)},
               {"gpu", g.gpu ? Value(g.gpu->uuid) : Value(Missing{of_meter ? "a meter's" : "all"})},
               {"channel", of_meter ? Value(cat(run.channels[*g.channel].info.meter, "/",
                                                run.channels[*g.channel].info.channel.name))
                                    : Value(Missing{"no meter's"})},
               {"why", g.why}});
  }
  Object out{
      {"schema", "rubato.run/1"},
      {"run_id", run.info.run_id},
      {"mode", run.info.mode},
      {"command", std::move(command)},
      {"rubato_version", run.info.rubato_version},
      {"host", run.info.host},
      {"started_at", run.info.started_at},
      {"complete", run.end.has_value()},
      {"running", running},
      {"exit_status", run.end ? exit_status_json(run.end->exit_code, run.end->exit_signal)
                              : Value(Missing{"the record was cut short"})},
      {"duration_s", amount(summary.duration, "s")},
      {"clock_rate", Amount{run.info.clock_rate, ""}},
      {"iterations", run.iterations.size()},
      {"gpus", std::move(gpus)},
      {"bystanders", bystanders(run)},
      {"energy_j", summary.total ? Value(Amount{summary.total->energy.value(), "J"}) : Value(Missing{})},
      {"savings", summary.savings ? savings(*summary.savings) : Value(Missing{summary.why_no_savings})}};
  if (!summary.savings) out.set("why_no_savings", summary.why_no_savings);
  out.set("settings", settings(summary.settings));
  out.set("goal", goal_json(run));
  out.set("search", search_json(summary, run));
  set_parts(out, run, summary);
  out.set("host_watts", host_watts_json(summary.scopes.host));
  out.set("idle", idle_json(summary));
  out.set("kernels", kernels_json(summary));
  // Of a run that is over there is nothing to foretell.
  out.set("forecast",
          run.end ? Value(Missing{"the run is over"}) : forecast_json(analyse::forecast_of(run, factors)));
  out.set("footprint", factors.any() && summary.total
                           ? footprint_json(analyse::footprint_of(summary.total->energy, factors), factors)
                           : Value(Missing{"no factor was given"}));
  out.set("setting_changes", std::move(changes));
  out.set("decisions", std::move(decisions));
  out.set("gaps", std::move(gaps));
  out.set("own_cost", summary.cost ? own_cost(*summary.cost) : Value(Missing{"the record was cut short"}));
  return out;
}

}  // namespace rubato::cli
