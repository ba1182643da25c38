#include "cli/latency_report.h"

#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "cli/print_run.h"
#include "report/format.h"
#include "report/layout.h"
#include "report/render.h"

namespace rubato::cli {
namespace {

using experiment::ClockPair;
using experiment::DelaySummary;
using experiment::LatencyTable;
using report::Amount;
using report::Object;

std::string clock_text(const predict::Clocks& clocks, bool memory) {
  const std::string sm = number(clocks.sm.value(), 1);
  return memory ? cat(sm, " / ", number(clocks.memory.value(), 1)) : sm;
}

std::string ms(Seconds s) {
  return report::fixed(s.value() * 1e3, 1);
}

Object clocks_json(const predict::Clocks& clocks) {
  return {{"sm_clock_mhz", Amount{clocks.sm.value(), "MHz", 1}},
          {"memory_clock_mhz", Amount{clocks.memory.value(), "MHz", 1}}};
}

void add_power(std::vector<std::string>& row, const std::optional<DelaySummary>& power) {
  row.push_back(power ? ms(power->median) : "-");
  row.push_back(power ? ms(power->p95) : "-");
}

std::string how(const LatencyTable& t) {
  std::string out =
      "CLOCK: from the driver's being asked to the clock read-out's being there. POWER: until the power "
      "reading "
      "is within 10 % of its step; \"-\": the step does not stand out. ";
  out += cat("A reading every ", ms(t.polling_gap), " ms: a delay is known to ", ms(t.polling_gap / 2),
             " ms either way, and the read-out's own refresh is in it");
  out += t.readout_period ? cat(" (it changed after ", ms(*t.readout_period), " ms at the soonest)")
                          : std::string();
  out += t.power_period ? cat("; the power sensor is refreshed every ", ms(*t.power_period), " ms.")
                        : std::string("; how often the power sensor is refreshed is not known.");
  if (t.asking) out += cat(" Asking through the guard takes ", ms(*t.asking), " ms more.");
  return out;
}

}  // namespace

std::string latency_dry_run_text(const LatencyDryRun& dry) {
  const double changes = static_cast<double>(dry.plan.pairs.size() * dry.plan.repeats);
  const bool memory = dry.plan.memory_clock;
  const auto options = text_options(STDOUT_FILENO);
  std::string out = report::wrapped(
      cat(dry.gpu, " (", dry.uuid, "): nothing is set. It would lock ", dry.plan.pairs.size(),
          " pairs of clocks ", dry.plan.repeats, " times each under the micro-benchmark ", dry.load,
          ", about ", report::text_of(experiment::length_of_change(dry.plan) * changes),
          " of this GPU's time, and unlock them at the end."),
      "", options.width);
  report::Table table({{memory ? "FROM SM / MEMORY" : "FROM SM MHz", true}, {"TO", true}});
  for (const ClockPair& pair : dry.plan.pairs)
    table.add({clock_text(pair.from, memory), clock_text(pair.to, memory)});
  out += table.text(0, options);
  return out + report::wrapped(
                   "Clocks that the power limit does not leave under this load are replaced by lower ones.",
                   "", options.width);
}

std::string latency_dry_run_json(const LatencyDryRun& dry) {
  report::Array pairs;
  for (const ClockPair& pair : dry.plan.pairs)
    pairs.emplace_back(Object{{"from", clocks_json(pair.from)}, {"to", clocks_json(pair.to)}});
  return report::render_json(Object{{"schema", "rubato.latency_plan/1"},
                                    {"uuid", dry.uuid},
                                    {"gpu", dry.gpu},
                                    {"load", dry.load},
                                    {"repeats", static_cast<std::int64_t>(dry.plan.repeats)},
                                    {"pairs", std::move(pairs)}});
}

std::string latency_text(const LatencyTable& t) {
  const auto options = text_options(STDOUT_FILENO);
  const bool memory = std::any_of(t.pairs.begin(), t.pairs.end(), [](const experiment::PairLatency& p) {
    return p.from.memory != p.to.memory;
  });
  std::string out = report::wrapped(
      cat(t.gpu, " (", t.uuid, "), ", name_of(t.kind), " under ", t.load, ": clock changes in ms"), "",
      options.width);
  report::Table table({{memory ? "FROM SM / MEMORY" : "FROM SM MHz", true},
                       {"TO", true},
                       {"CLOCK", true},
                       {"P95", true},
                       {"WORST", true},
                       {"N", true},
                       {"OUTLIERS", true},
                       {"POWER", true},
                       {"P95", true}});
  std::string lost;
  for (const auto& pair : t.pairs) {
    std::vector<std::string> row = {clock_text(pair.from, memory), clock_text(pair.to, memory)};
    if (pair.clock) {
      for (const Seconds s : {pair.clock->median, pair.clock->p95, pair.clock->worst}) row.push_back(ms(s));
      row.push_back(std::to_string(pair.clock->n));
      row.push_back(std::to_string(pair.clock->outliers));
    } else {
      row.insert(row.end(), {"-", "-", "-", "0", "-"});
    }
    add_power(row, pair.power);
    table.add(std::move(row));
    if (pair.lost > 0)
      lost += cat(clock_text(pair.from, memory), " to ", clock_text(pair.to, memory), ": ", pair.lost,
                  " not timed, ", pair.why_not, "\n");
  }
  table.add({"all", "", ms(t.overall.median), ms(t.overall.p95), ms(t.overall.worst),
             std::to_string(t.overall.n), std::to_string(t.overall.outliers), "", ""});
  out += table.text(0, options);
  out += report::wrapped(how(t), "", options.width);
  if (!out.ends_with('\n')) out += "\n";
  return out + lost;
}

}  // namespace rubato::cli
