#include <algorithm>
#include <filesystem>
#include <utility>

#include "cli/lab_report.h"
#include "cli/lab_scatter.h"

namespace rubato::cli {
namespace {

using lab::Row;
using lab::StrategyOutcome;

std::string share(const std::optional<double>& value) {
  return value ? fixed(*value, 3) : "-";
}

std::string share_in_percent(const std::optional<double>& value) {
  return value ? percent(*value) : "-";
}

std::string source(const LabReport& lab) {
  if (lab.table.empty()) return cat("suite ", lab.suite);
  return std::filesystem::path(lab.table).filename().string();
}

std::pair<Seconds, Seconds> iterations_of(const std::vector<lab::Job>& jobs) {
  std::pair out{jobs.front().programs.front().iteration, jobs.front().programs.front().iteration};
  for (const lab::Job& job : jobs)
    for (const lab::Truth& program : job.programs)
      out = {std::min(out.first, program.iteration), std::max(out.second, program.iteration)};
  return out;
}

std::string how(const LabReport& lab) {
  const auto& o = lab.options;
  std::string out = cat(lab.jobs.size(), lab.jobs.size() == 1 ? " workload, " : " workloads, ", o.iterations,
                        " iterations of ");
  const auto [shortest, longest] = iterations_of(lab.jobs);
  if (shortest < longest) out += cat(fixed(shortest.value(), 2), " to ");
  out += cat(fixed(longest.value(), 2), " s each, at most ", percent(o.goal.max_slowdown), " slower; noise ",
             percent(o.noise.level), " (", lab::name_of(o.noise.model), "), seed ", o.seed);
  if (o.seeds > 1) out += cat(" to ", o.seed + o.seeds - 1);
  out += ".";
  if (!lab.train.empty())
    out += cat(" Strategies may use a model learned from ",
               std::filesystem::path(lab.train).filename().string(), ".");
  return out;
}

std::string kind(const LabReport& lab) {
  const Kind kind = lab.jobs.front().kind;
  if (kind == Kind::modelled) return "Modelled: no GPU was measured for these jobs.";
  if (kind == Kind::replayed) return "Replayed: the rows of the table as they stand, noise and all.";
  std::string out = "Interpolated: ";
  out += lab.truth.truth == lab::TruthKind::denoised ? "a monotone fit through the rows of the table"
                                                     : "a curve through the rows of the table, noise and all";
  out += lab.truth.resolution == lab::Resolution::hardware ? ", at every step the GPU takes."
                                                           : ", at the table's own settings.";
  return out;
}

void say_means(Page& page, const LabReport& lab) {
  Table table({{"strategy"},
               {"saved", true},
               {"captured", true},
               {"slower", true},
               {"worst", true},
               {"so far", true},
               {"broken", true},
               {"tries", true},
               {"settled", true}});
  const StrategyOutcome* any = nullptr;
  for (const StrategyOutcome& o : lab.outcomes) {
    if (!o.applicable) {
      table.add({o.name, "-", "-", "-", "-", "-", "-", "-", "-"});
      continue;
    }
    any = &o;
    const auto& s = o.score;
    table.add({o.name, percent(s.saving), share(s.captured), percent(s.slowdown), percent(s.slowdown_max),
               share_in_percent(s.worst_running_slowdown), cat(s.bound_violations),
               fixed(s.settings_tried, 1), s.settled_after ? fixed(*s.settled_after, 0) : "-"});
  }
  if (any != nullptr) {
    const auto& s = any->score;
    table.add({"best fixed setting", percent(s.fixed_oracle_saving), "1.000", "", "", "", "", "", ""});
    table.add({"best share of two", percent(s.mixed_oracle_saving),
               s.fixed_oracle_saving > 0 ? fixed(s.mixed_oracle_saving / s.fixed_oracle_saving, 3) : "-", "",
               "", "", "", "", ""});
  }
  page.table(table);
  page.gap();
  page.say(
      "Means over workloads, of whole runs with their search. Captured: of what the best fixed setting, "
      "known "
      "beforehand, saves. Worst: the slowest run; so far: the largest slowdown of a run up to any moment "
      "after its first 300 s; broken: runs slower than the bound. Settled: iterations before it held a "
      "setting.");
  for (const StrategyOutcome& o : lab.outcomes)
    for (const std::string& need : o.needs) page.say(cat("Not applicable here: ", need, "."));
}

void say_scatters(Page& page, const LabReport& lab) {
  Scatter scatter(lab.options.goal.max_slowdown);
  for (const StrategyOutcome& o : lab.outcomes) scatter.include(o.rows);
  for (const StrategyOutcome& o : lab.outcomes) {
    if (!o.applicable) continue;
    page.heading(cat("Saving against slowdown: ", o.name));
    for (const std::string& line : scatter.lines(o.rows)) page.line(line);
  }
  page.gap();
  page.say("One mark per run; a digit where several coincide, + for ten and more; | is the bound.");
}

std::string gain_text(const lab::CorrectedGain& gain) {
  if (!gain.distinguishable()) return "not distinguishable";
  return cat(percent(gain.corrected), " ± ", percent(2 * gain.standard_error));
}

void say_correction(Page& page, const LabCorrection& correction) {
  page.heading("How much of it is noise of the table");
  Table table({{"gain of"}, {"at the steps of"}, {"seems", true}, {"is", true}});
  for (const auto& [name, one] :
       {std::pair{"the table", &correction.table}, std::pair{"the GPU", &correction.hardware}}) {
    table.add({"the best fixed setting", name, percent(one->fixed.apparent), gain_text(one->fixed)});
    table.add({"sharing, over that", name, percent(one->sharing.apparent), gain_text(one->sharing)});
  }
  page.table(table);
  page.gap();
  page.say(cat("Rows scatter by ", percent(correction.table.time_noise), " in time and ",
               percent(correction.table.power_noise), " in power about their monotone fit. From the fit ",
               lab::kBootstrapTables,
               " noisy tables were made; settings were chosen on each and valued on the fit (± two standard "
               "errors, over tables and workloads). A gain below two standard errors is not distinguishable "
               "from none. What sharing adds at the table's steps is mostly their coarseness: read it beside "
               "the GPU's own."));
}

void say_rows(Page& page, const StrategyOutcome& outcome, const std::vector<lab::Job>& jobs) {
  page.heading(cat("Every workload under ", outcome.name));
  Table table({{"saved", true},
               {"of", true},
               {"slower", true},
               {"so far", true},
               {"tries", true},
               {"settled", true},
               {"seed", true},
               {"workload"}});
  for (const Row& row : outcome.rows)
    table.add({percent(row.run.saving), percent(row.oracles.fixed.saving), percent(row.run.slowdown),
               share_in_percent(row.run.worst_running_slowdown), cat(row.run.settings_tried),
               row.run.settled_after ? cat(*row.run.settled_after) : "-", cat(row.seed), jobs[row.job].name});
  page.table(table);
}

}  // namespace

void say_lab(Page& page, const LabReport& lab, bool every_workload) {
  page.heading(cat("The lab on ", source(lab)));
  page.say(how(lab));
  page.say(kind(lab));
  if (lab.default_assumed)
    page.say("No row says that it is the default: the one with every knob at its highest is taken for it.");
  if (const auto host = lab.options.goal.host_watts; host && *host > Watts(0))
    page.say(cat("Savings count ", *host, " of the host beside the boards."));
  if (const auto& second = lab.options.goal.second; second && *second > Watts(0))
    page.say(cat("Settings are chosen as if each second took ", Joules(second->value()),
                 " more of each board; no figure counts them."));
  page.gap();
  say_means(page, lab);
  if (lab.correction) say_correction(page, *lab.correction);
  say_scatters(page, lab);
  if (!every_workload) return;
  for (const StrategyOutcome& outcome : lab.outcomes)
    if (outcome.applicable) say_rows(page, outcome, lab.jobs);
}

}  // namespace rubato::cli
