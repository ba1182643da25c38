#include <algorithm>

#include "cli/report/validation_report.h"
#include "experiment/sweep_grid.h"

namespace rubato::cli {
namespace {

using experiment::Errors;
using experiment::JudgedWorkload;
using experiment::Validation;

std::string share(const std::optional<double>& value) {
  return value ? percent(*value) : "-";
}

std::string how(const ValidationReport& v) {
  const Validation& found = v.found;
  std::string out = cat(found.workloads, found.workloads == 1 ? " workload" : " workloads");
  if (found.workloads_distinct != found.workloads)
    out += cat(", ", found.workloads_distinct, " of them distinct,");
  out += cat(" in ", found.groups, found.groups == 1 ? " group" : " groups");
  out += v.train.empty() ? "; each group is predicted by a model that never saw it"
                         : cat("; the model learnt from ", v.train, " alone");
  out += v.options.probes == 0 ? ", from one run at the default setting."
                               : cat(", from one run at the default setting and ", v.options.probes,
                                     v.options.probes == 1 ? " probe" : " probes", " of its own choice.");
  return out;
}

void say_errors(Page& page, const ValidationReport& v) {
  Table table({{"mean error of"}, {v.model, true}, {"mean curve", true}, {"noise floor", true}});
  const Errors& own = v.found.errors;
  const Errors& mean = v.mean_curve.errors;
  table.add({"time", share(own.time), share(mean.time), share(v.floor.time)});
  table.add({"energy", share(own.energy), share(mean.energy), share(v.floor.energy)});
  table.add({"energy x time (EDP)", share(own.edp), share(mean.edp), "-"});
  table.add({"regret, energy", percent(v.found.energy_regret), percent(v.mean_curve.energy_regret), "-"});
  table.add({"regret, EDP", percent(v.found.edp_regret), percent(v.mean_curve.edp_regret), "-"});
  table.add({"inside 90 % interval", share(v.found.coverage.both), share(v.mean_curve.coverage.both), "-"});
  page.table(table);
  page.gap();
  page.say(cat(
      "Errors are over settings that were neither the default nor probed. Regret: what the chosen setting "
      "costs above the best one, without a bound. Mean curve: every workload taken for the mean of the "
      "others, without probes; a model has to beat it. Noise floor: a row predicted from all other rows "
      "of its own workload (",
      share(v.floor.time_between), " and ", share(v.floor.energy_between),
      " where it lies between others): the noise and the coarse steps of the table."));
}

void say_bound(Page& page, const ValidationReport& v) {
  const auto& at = v.found.at_bound;
  page.heading(cat("At most ", percent(v.options.max_slowdown), " slower"));
  page.row("saving", cat(percent(at.saving), " of the energy, mean; a broken bound counts as zero"));
  page.row("at best", percent(at.oracle_saving));
  page.row("captured", at.captured ? percent(*at.captured) : "-, no workload has anything to save");
  page.row("slowest", percent(at.worst_slowdown));
}

void say_workloads(Page& page, const Validation& found) {
  page.heading("Every workload");
  Table table({{"time", true},
               {"energy", true},
               {"regret", true},
               {"saving", true},
               {"of", true},
               {"slower", true},
               {"chosen"},
               {"workload"}});
  for (const JudgedWorkload& w : found.judged) {
    Validation one{.judged = {w}};
    summarise(one);
    table.add({share(one.errors.time), share(one.errors.energy), percent(w.energy_regret), percent(w.saving),
               percent(w.oracle_saving), percent(w.slowdown),
               w.chosen ? experiment::describe(*w.chosen) : "the default", w.workload});
  }
  page.table(table);
}

}  // namespace

void say_validation(Page& page, const ValidationReport& v, bool every_workload) {
  page.heading(cat("Model ", v.model, " on ", v.table));
  page.say(how(v));
  const bool assumed = std::any_of(v.found.judged.begin(), v.found.judged.end(),
                                   [](const JudgedWorkload& w) { return w.default_assumed; });
  if (assumed)
    page.say("No row says that it is the default: the one with every knob at its highest is taken for it.");
  if (v.options.host_watts > Watts(0))
    page.say(cat("Regret and savings count ", v.options.host_watts, " of the host beside the board."));
  page.gap();
  say_errors(page, v);
  page.gap();
  say_bound(page, v);
  if (!every_workload) return;
  page.gap();
  say_workloads(page, v.found);
}

}  // namespace rubato::cli
