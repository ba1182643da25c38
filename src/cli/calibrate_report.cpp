#include "cli/calibrate_report.h"

#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "cli/print_run.h"
#include "experiment/sweep_grid.h"
#include "report/format.h"
#include "report/layout.h"

namespace rubato::cli {
namespace {

using experiment::CalibratedBenchmark;
using experiment::CalibratedSetting;
using report::Amount;
using report::Array;
using report::Missing;
using report::Object;
using report::Value;

Value watts(const std::optional<Watts>& limit) {
  if (!limit) return Missing{"not set"};
  return Amount{limit->value(), "W", 1};
}
Value megahertz(const std::optional<Megahertz>& clock) {
  if (!clock) return Missing{"not set"};
  return Amount{clock->value(), "MHz", 1};
}
Value number_of(const std::optional<double>& number, const char* why, const char* unit = "") {
  if (!number) return Missing{why};
  return Amount{*number, unit, 4};
}

Object point_json(const predict::KnobPoint& at) {
  return {{"power_limit_w", watts(at.power_limit)},
          {"sm_clock_mhz", megahertz(at.sm_clock)},
          {"memory_clock_mhz", megahertz(at.memory_clock)}};
}

Value roofline_json(const CalibratedBenchmark& b) {
  if (!b.position) return Missing{"its counters do not tell"};
  const auto& p = *b.position;
  Value pipe = Missing{"only the SMs' activity is known"};
  if (p.pipe) pipe = predict::name_of(*p.pipe);
  Value knee = Missing{"no byte moves"};
  if (const auto clock = predict::memory_knee(p, p.at.memory)) knee = Amount{clock->value(), "MHz", 1};
  return Object{{"pipe", std::move(pipe)},
                {"upper_bound", p.upper_bound()},
                {"operations_per_byte", number_of(p.intensity, "the peak rates of this GPU are not known")},
                {"ratio", Amount{predict::ratio_at(p, p.at), "", 4}},
                {"side", predict::name_of(predict::side_at(p, p.at))},
                {"memory_knee_mhz", std::move(knee)}};
}

Value setting_json(const CalibratedBenchmark& b, const CalibratedSetting& s) {
  Object out = point_json(s.at);
  out.set("time_s", Amount{s.time.value(), "s", 6});
  out.set("energy_j", Amount{s.energy.value(), "J", 4});
  out.set("time_over_default", Amount{s.time / b.time, "", 4});
  out.set("energy_over_default", Amount{s.energy / b.energy, "", 4});
  out.set("reached_sm_clock_mhz", megahertz(s.reached.sm_clock));
  Array notes;
  for (const std::string& note : s.notes) notes.emplace_back(note);
  out.set("notes", std::move(notes));
  return out;
}

Value benchmark_json(const CalibratedBenchmark& b) {
  Array settings;
  for (const CalibratedSetting& s : b.settings) settings.push_back(setting_json(b, s));
  Array lost;
  for (const auto& l : b.lost) {
    Object row = point_json(l.at);
    row.set("why", l.why);
    lost.emplace_back(std::move(row));
  }
  Object features;
  for (const auto& [name, value] : b.features) features.set(name, Amount{value, "", 4});
  const auto counted = [](double amount, const char* unit) -> Value {
    if (!(amount > 0)) return Missing{"none, or the simulated GPU counts none"};
    return Amount{amount, unit, 0};
  };
  return Object{{"name", b.benchmark->name},
                {"description", b.benchmark->description},
                {"operations_per_unit", counted(b.work.operations, "")},
                {"bytes_per_unit", counted(b.work.bytes, "B")},
                {"runs", b.runs},
                {"time_s", Amount{b.time.value(), "s", 6}},
                {"energy_j", Amount{b.energy.value(), "J", 4}},
                {"time_scatter", number_of(b.time_scatter, "one run")},
                {"energy_scatter", number_of(b.energy_scatter, "one run")},
                {"roofline", roofline_json(b)},
                {"features", std::move(features)},
                {"settings", std::move(settings)},
                {"not_used", std::move(lost)}};
}

std::string best_of(const CalibratedBenchmark& b) {
  const auto best = std::min_element(
      b.settings.begin(), b.settings.end(),
      [](const CalibratedSetting& a, const CalibratedSetting& c) { return a.energy < c.energy; });
  if (best == b.settings.end()) return "-";
  if (best->energy >= b.energy) return "none";
  return cat(experiment::describe(best->at), ": ", report::percent(1 - best->energy / b.energy), " less, ",
             report::percent(best->time / b.time - 1), " longer");
}

std::string side_of(const CalibratedBenchmark& b) {
  if (!b.position) return "-";
  const auto& p = *b.position;
  const auto side = predict::side_at(p, p.at);
  const auto knee = predict::memory_knee(p, p.at.memory);
  if (side == predict::Side::memory && knee && !p.upper_bound() && *knee > Megahertz(1))
    return cat("memory above ", number(knee->value(), 0), " MHz");
  return std::string(predict::name_of(side));
}

/// Of what was set, as --knobs takes them.
std::string knobs_of(const std::vector<predict::KnobPoint>& settings) {
  std::string out;
  for (const auto& [knob, set] :
       {std::pair{Knob::power_limit, std::any_of(settings.begin(), settings.end(),
                                                 [](const auto& at) { return at.power_limit.has_value(); })},
        std::pair{Knob::sm_clock, std::any_of(settings.begin(), settings.end(),
                                              [](const auto& at) { return at.sm_clock.has_value(); })},
        std::pair{Knob::memory_clock, std::any_of(settings.begin(), settings.end(), [](const auto& at) {
                    return at.memory_clock.has_value();
                  })}})
    if (set) out += cat(out.empty() ? "" : ",", name_of(knob));
  return out;
}

}  // namespace

Value calibration_json(const CalibrationReport& r) {
  Array settings;
  for (const auto& at : r.settings) settings.emplace_back(point_json(at));
  Array benchmarks;
  for (const auto& b : r.benchmarks) benchmarks.push_back(benchmark_json(b));
  Array skipped;
  for (const auto& s : r.skipped) skipped.emplace_back(Object{{"name", s.name}, {"why", s.why}});
  Object rates;
  Object ridges;
  for (const auto& [pipe, rate] : r.ceilings.operations_per_s) {
    rates.set(std::string(predict::name_of(pipe)), Amount{rate, "", 0});
    ridges.set(std::string(predict::name_of(pipe)), number_of(r.ceilings.ridge(pipe), "no bandwidth"));
  }
  Value table = Missing{"none was written"};
  if (!r.table.empty()) table = r.table;
  std::optional<Megahertz> sm;
  std::optional<Megahertz> memory;
  if (r.clocks) {
    sm = r.clocks->sm;
    memory = r.clocks->memory;
  }
  return Object{{"schema", "rubato.calibrate/1"},
                {"uuid", r.gpu.id.uuid},
                {"gpu", r.gpu.name},
                {"kind", name_of(r.kind)},
                {"dry_run", r.dry_run},
                {"complete", r.complete},
                {"sm_clock_mhz", megahertz(sm)},
                {"memory_clock_mhz", megahertz(memory)},
                {"settings", std::move(settings)},
                {"benchmarks", std::move(benchmarks)},
                {"skipped", std::move(skipped)},
                {"operations_per_s", std::move(rates)},
                {"bytes_per_s", number_of(r.ceilings.bytes_per_s, "not measured")},
                {"ridge_operations_per_byte", std::move(ridges)},
                {"table", std::move(table)}};
}

std::string calibration_text(const CalibrationReport& r) {
  const auto options = text_options(STDOUT_FILENO);
  std::string out = cat(r.gpu.name, " (", r.gpu.id.uuid, "), ", name_of(r.kind), ": ", r.benchmarks.size(),
                        " micro-benchmark", r.benchmarks.size() == 1 ? "" : "s");
  out += r.dry_run ? cat(" at the present setting; ", r.settings.size(), " settings would be measured\n")
                   : cat(" under ", r.settings.size(), r.settings.size() == 1 ? " setting\n" : " settings\n");
  report::Table table(
      {{"BENCHMARK"}, {"TIME", true}, {"POWER", true}, {"ENERGY", true}, {"HELD UP BY"}, {"CHEAPEST"}});
  for (const auto& b : r.benchmarks)
    table.add({std::string(b.benchmark->name), report::text_of(b.time), report::text_of(b.energy / b.time),
               report::text_of(b.energy), side_of(b), best_of(b)});
  out += table.text(0, options);
  out += "Time and energy are of one unit of work at the found setting.\n";
  if (r.ceilings.bytes_per_s)
    out += cat("memory: ", number(*r.ceilings.bytes_per_s / 1e9, 1), " GB/s reached\n");
  for (const auto& [pipe, rate] : r.ceilings.operations_per_s) {
    out += cat(predict::name_of(pipe), ": ", number(rate / 1e12, 2), " tera-operations a second reached");
    if (const auto ridge = r.ceilings.ridge(pipe))
      out += cat(", ridge at ", number(*ridge, 1), " for each byte");
    out += "\n";
  }
  for (const auto& b : r.benchmarks)
    for (const auto& l : b.lost)
      out += cat("not used: ", b.benchmark->name, " at ", experiment::describe(l.at), ": ", l.why, "\n");
  for (const auto& s : r.skipped) out += cat("left out: ", s.name, ": ", s.why, "\n");
  if (!r.complete) out += "Interrupted: what was measured until then is here.\n";
  if (!r.table.empty())
    out += cat("The table is in ", r.table,
               r.dry_run ? ""
                         : cat("; learn from it: rubato model train --table ", r.table, " --knobs ",
                               knobs_of(r.settings), " -o model.json"),
               "\n");
  return out;
}

}  // namespace rubato::cli
