#include <algorithm>
#include <cmath>
#include <numeric>

#include "cli/report/page.h"
#include "cli/sweep_report.h"

namespace rubato::cli {
namespace {

using experiment::Quotient;
using experiment::SweepSummary;
using experiment::SweptSetting;

std::string change(const Quotient& q) {
  const double percents = (q.value - 1) * 100;
  const std::string shown = cat(percents >= 0.05 ? "+" : "", fixed(percents, 1), " %");
  if (!q.low || !q.high) return shown;
  return cat(shown, " ± ", fixed((*q.high - *q.low) * 50, 1));
}

std::string marks_of(std::size_t i, const experiment::SweepChoices& choices) {
  std::vector<std::string> marks;
  if (i == choices.energy.setting) marks.emplace_back("energy");
  if (i == choices.edp.setting) marks.emplace_back("EDP");
  if (i == choices.time.setting) marks.emplace_back("time");
  if (choices.inside && i == choices.inside->setting) marks.emplace_back("bound");
  std::string out;
  for (const auto& mark : marks) out += cat(out.empty() ? "" : ", ", mark);
  if (std::find(choices.front.begin(), choices.front.end(), i) != choices.front.end())
    out += out.empty() ? "*" : " *";
  return out;
}

std::string listed(const SweepSummary& summary, const std::vector<std::size_t>& which) {
  std::string out;
  for (const std::size_t i : which)
    out += cat(out.empty() ? "" : "; ", experiment::describe(summary.settings[i].at));
  return out;
}

class SweepText {
 public:
  SweepText(const SweepReport& report, const TextOptions& options) : r_(report), page_(options) {}

  std::string text() {
    const bool through = r_.end.why.empty();
    page_.line(cat("rubato sweep · ", r_.facts.gpu, " · ", through ? "complete" : "not complete"), Ink::bold);
    page_.line(cat("$ ", r_.plan.command));
    page_.gap();
    if (!through) page_.say(cat("Not complete: ", r_.end.why, "."));
    if (r_.choices != nullptr)
      verdicts();
    else
      page_.say(cat("No result: ", r_.why_not, "."));
    if (r_.summary != nullptr) {
      settings();
      worth_knowing();
    }
    return page_.take();
  }

 private:
  void best(std::string_view what, const experiment::Best& best, Quotient SweptSetting::*series) {
    const SweepSummary& summary = *r_.summary;
    const SweptSetting& s = summary.settings[best.setting];
    std::string line = s.is_default() ? cat(what, ": as found; no setting does better")
                                      : cat(what, ": ", experiment::describe(s.at), ", ", change(s.*series),
                                            " (time ", change(s.time_over_default), ")");
    if (!best.as_good.empty())
      line += cat(". This sweep cannot tell it from ", listed(summary, best.as_good));
    page_.say(line + ".");
  }

  void verdicts() {
    best("Least energy", r_.choices->energy, &SweptSetting::energy_over_default);
    best("Least energy times time (EDP)", r_.choices->edp, &SweptSetting::edp_over_default);
    best("Fastest", r_.choices->time, &SweptSetting::time_over_default);
    if (const auto& inside = r_.choices->inside) {
      const SweptSetting& s = r_.summary->settings[inside->setting];
      const std::string bound = cat("Inside ", number(*r_.plan.max_slowdown * 100, 2), " % more time: ");
      if (s.is_default())
        page_.say(cat(bound, "nothing saves; the GPU is best left as it was found."));
      else
        page_.say(cat(bound, experiment::describe(s.at), ", energy ", change(s.energy_over_default),
                      ", time ", change(s.time_over_default),
                      inside->surely ? "." : "; its interval reaches beyond the bound (or is not known)."));
    }
  }

  void settings() {
    const SweepSummary& summary = *r_.summary;
    page_.heading(cat("Settings (", name_of(summary.kind), "; ± is half a 90 % interval)"));
    Table table({{"setting"},
                 {"runs", true},
                 {"time", true},
                 {"more time", true},
                 {"energy", true},
                 {"more energy", true},
                 {"best"}});
    // They were measured in a random order.
    std::vector<std::size_t> ascending(summary.settings.size());
    std::iota(ascending.begin(), ascending.end(), std::size_t{0});
    std::sort(ascending.begin(), ascending.end(),
              [&](std::size_t a, std::size_t b) { return summary.settings[a].at < summary.settings[b].at; });
    for (const std::size_t i : ascending) {
      const SweptSetting& s = summary.settings[i];
      table.add({experiment::describe(s.at), cat(s.runs), text_of(s.time),
                 s.is_default() ? "" : change(s.time_over_default), text_of(s.energy),
                 s.is_default() ? "" : change(s.energy_over_default),
                 r_.choices == nullptr ? std::string() : marks_of(i, *r_.choices)});
    }
    page_.table(table);
    page_.say(
        cat(r_.options.within ? "Time and energy of an iteration." : "Time and energy of the whole command.",
            r_.choices == nullptr ? "" : " *: on the front, nothing else is both faster and more frugal."));
  }

  void worth_knowing() {
    page_.heading("Worth knowing");
    const SweepSummary& summary = *r_.summary;
    for (const auto& s : summary.lost)
      page_.say(cat(experiment::describe(s.at), " is not used: ", s.not_used.front(), "."));
    for (const auto& s : summary.settings) {
      if (!s.not_used.empty())
        page_.say(cat(experiment::describe(s.at), ": ", s.not_used.size(), " of ", s.not_used.size() + s.runs,
                      " runs not used: ", s.not_used.front(), "."));
      for (const auto& note : s.notes) page_.say(cat(experiment::describe(s.at), ": ", note, "."));
    }
    for (const auto& [at, why] : r_.end.skipped)
      page_.say(cat(experiment::describe(at), " is left out: ", why, "."));
    for (const auto& drift : summary.drift) say_drift(drift);
    if (summary.stretches > 1) say_stretches();
    if (summary.degrees > 0)
      page_.say(cat("One ", r_.options.within ? "stretch" : "run", " scatters by ",
                    percent(summary.time_scatter), " in time and ", percent(summary.energy_scatter),
                    " in energy (", number(summary.degrees, 0),
                    summary.degrees == 1 ? " degree of freedom)." : " degrees of freedom)."));
    else
      page_.say("Nothing was measured twice, so there are no intervals: --repeats 3.");
    if (summary.kind != Kind::measured)
      page_.say(cat("These numbers are ", name_of(summary.kind), ", not measured on hardware."));
  }

  void say_stretches() {
    const std::size_t all = r_.summary->stretches;
    const std::size_t lost = all - r_.summary->drift.size();
    page_.say(cat("The sweep was interrupted: its ", all,
                  " stretches are brought to one baseline by their own control runs",
                  lost == 0 ? "."
                            : cat("; ", lost, " of them without a usable one ", lost == 1 ? "is" : "are",
                                  " left out.")));
  }

  void say_drift(const experiment::BaselineDrift& drift) {
    if (!drift.time || !drift.energy) return;
    const auto part = [](double fraction, bool out) {
      return cat(fraction >= 0.0005 ? "+" : "", fixed(fraction * 100, 1), " %",
                 out ? " (taken out)" : " (within its scatter, left in)");
    };
    page_.say(cat("Baseline over the sweep: time ", part(*drift.time, drift.time_taken_out), ", energy ",
                  part(*drift.energy, drift.energy_taken_out), ", from ", drift.controls, " control runs."));
  }

  const SweepReport& r_;
  Page page_;
};

}  // namespace

std::string sweep_text(const SweepReport& report, const report::TextOptions& options) {
  return SweepText(report, options).text();
}

std::string sweep_plan_text(const SweepPlan& plan, const SweepOptions& options, const SweepFacts& facts,
                            const std::vector<experiment::SweepMeasurement>& measured,
                            const report::TextOptions& words) {
  Page page(words);
  const auto steps = experiment::sweep_schedule(facts.points.size(), plan.schedule);
  page.line(cat("rubato sweep · dry run · ", facts.gpu), Ink::bold);
  page.line(cat("$ ", plan.command));
  page.gap();
  const auto controls =
      std::count_if(steps.begin(), steps.end(), [](const auto& step) { return !step.point.has_value(); });
  page.say(cat(facts.points.size(), facts.points.size() == 1 ? " setting, " : " settings, ", options.repeats,
               options.repeats == 1 ? " time" : " times", " each, and ", controls,
               " control runs as found: ", steps.size(),
               options.within ? " stretches of one run."
                              : cat(" runs of the command, after ", plan.warmup, " for warm-up at most.")));
  if (const auto each = wall_of_one_run(measured, facts.clock_rate))
    page.say(
        cat("About ", text_of(*each * static_cast<double>(steps.size())), " at ", text_of(*each), " a run."));
  else
    page.say("How long that takes is known after the first run.");
  for (const auto& note : facts.notes) page.say(cat(note, "."));
  page.say(cat("The table goes to ", plan.output.string(), ". Nothing was set, nothing was started."));
  page.heading(cat("Order (", name_of(plan.schedule.order), ", seed ", plan.schedule.seed, ")"));
  for (std::size_t i = 0; i < steps.size(); ++i)
    page.line(
        cat("  ", padded(cat(i + 1), 4, true), "  ",
            steps[i].point ? experiment::describe(facts.points[*steps[i].point]) : "control: as found"));
  return page.take();
}

}  // namespace rubato::cli
