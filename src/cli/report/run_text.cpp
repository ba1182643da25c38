#include <algorithm>
#include <cmath>

#include "cli/report/iteration_text.h"
#include "cli/report/page.h"
#include "cli/report/parts_text.h"
#include "cli/report/run_report.h"
#include "cli/report/search_report.h"
#include "cli/report/worth_knowing.h"

namespace rubato::cli {
namespace {

using analyse::Estimate;
using analyse::Savings;
using analyse::Summary;

std::string meaning(Kind kind) {
  switch (kind) {
    case Kind::measured:
      return "Measured on the GPU's own sensor.";
    case Kind::apportioned:
      return "Apportioned: split by a model, not measured.";
    case Kind::replayed:
      return "Replayed from a table of measurements.";
    case Kind::interpolated:
      return "Interpolated between measurements of a table.";
    case Kind::modelled:
      return "Modelled: this GPU is simulated.";
  }
  return {};
}

bool undecided(const Estimate& e) {
  return e.interval && e.interval->low <= 0 && e.interval->high >= 0;
}

// "25.0 % less GPU energy (24.1 to 25.9 %)"; where the sign is in doubt the interval keeps it.
std::string change(const Estimate& e, std::string_view positive, std::string_view negative) {
  const bool flip = e.value < 0;
  Estimate shown = e;
  if (flip && e.interval) shown.interval = analyse::Interval{-e.interval->high, -e.interval->low};
  shown.value = std::abs(e.value);
  return cat(percent(shown.value), " ", flip ? negative : positive, interval_text(shown));
}

std::string held_setting(const Summary& summary) {
  std::optional<Setting> held;
  for (const auto& s : summary.settings) {
    if (s.role != BlockRole::hold || s.iterations == 0) continue;
    if (held && *held != s.setting) return "the chosen settings";
    held = s.setting;
  }
  return held && !held->empty() ? describe(*held) : "the chosen setting";
}

class RunText {
 public:
  RunText(const record::RunRecord& run, const Summary& summary, const TextOptions& options, bool running,
          const analyse::Factors& factors, Detail detail)
      : run_(run),
        summary_(summary),
        page_(options),
        running_(running),
        factors_(factors),
        brief_(detail == Detail::brief) {}

  std::string text() {
    title();
    headline();
    for (const analyse::GpuSummary& gpu : summary_.gpus) gpu_section(gpu);
    settings();
    if (!brief_ && summary_.search) tried_table(page_, *summary_.search, kind());
    iteration_view_text(page_, run_, brief_);
    if (!brief_) {
      shifts_text(page_, run_);
      counters_text(page_, run_);
    }
    parts_text(page_, run_, summary_);
    decisions();
    events();
    outlook();
    own_cost();
    return page_.take();
  }

 private:
  void title() {
    std::string line = cat("rubato ", run_.info.mode, " · ", run_.info.run_id);
    // Without a command there was no job that could have ended.
    if (run_.end && !run_.info.command.empty())
      line += cat(" · ", ending(run_.end->exit_code, run_.end->exit_signal, true));
    else if (!run_.end)
      line += running_ ? " · still running" : " · cut short";
    if (summary_.duration) line += cat(" · ", text_of(*summary_.duration));
    page_.line(line, Ink::bold);
    if (!run_.info.command.empty()) page_.line(cat("$ ", command_line(run_.info.command)), Ink::faint);
    page_.gap();
  }

  void headline() {
    if (!run_.end)
      page_.say(running_
                    ? "This run goes on: what follows is the part so far, without the last second."
                    : "This record was cut short: rubato was killed. At most the last second is missing.");
    if (summary_.savings)
      savings(*summary_.savings);
    else {
      used();
      page_.say(summary_.why_no_savings);
    }
    if (summary_.search) page_.say(search_sentence(*summary_.search, summary_.duration));
    bystanders();
  }

  void bystanders() {
    if (run_.bystanders.empty()) return;
    Joules together;
    bool all_known = true;
    for (const record::Bystander& b : run_.bystanders) {
      all_known = all_known && b.energy.has_value();
      if (b.energy) together += b.energy->energy;
    }
    const std::size_t n = run_.bystanders.size();
    page_.say(cat(n == 1 ? "One more GPU was measured on which the job never computed"
                         : cat(n, " more GPUs were measured on which the job never computed"),
                  all_known ? cat(": ", text_of(together), ", not counted.") : ", not counted."));
  }

  void used() {
    if (summary_.gpus.empty())
      page_.say("No GPU was measured: none was found, or none was asked for.", Ink::bold);
    if (!summary_.total) return;
    const EnergyWindow& total = *summary_.total;
    page_.say(cat(summary_.gpus.size() == 1 ? "The GPU" : cat("The ", summary_.gpus.size(), " GPUs"),
                  " used ", text_of(total.energy), " in ", text_of(total.duration()), ", ",
                  text_of(total.mean_power()), " on average. ", meaning(total.source.kind)),
              Ink::bold);
  }

  void savings(const Savings& s) {
    const Estimate& energy = s.energy_per_iteration;
    const Estimate& time = s.slowdown;
    const std::string less = change(energy, "less GPU energy", "more GPU energy");
    const std::string longer = change(time, "more time", "less time");
    const std::string at = cat("At ", held_setting(summary_), ", ");
    if (undecided(energy))
      page_.say(cat(at, "no difference in energy can be told from the noise: ", less, " per iteration and ",
                    longer, " than at the setting that was found."),
                Ink::bold);
    else
      page_.say(
          cat(at, "each iteration took ", less, " and ", longer, " than at the setting that was found."),
          energy.value > 0 ? Ink::good : Ink::bad);
    page_.say(cat("Over the whole run, ", summary_.search ? "search, " : "",
                  "start and stretches at the found setting included: ", text_of(abs(s.run_saved)),
                  s.run_saved >= Joules(0) ? " less" : " more", " (", whole_run(s.run_energy), ") and ",
                  text_of(abs(s.run_longer)), s.run_longer >= Seconds(0) ? " longer" : " shorter", " (",
                  whole_run(s.run_slowdown), ")."));
    if (const std::string host = host_saving_text(s, summary_.scopes.host); !host.empty()) page_.say(host);
    std::string note = meaning(s.kind);
    if (energy.interval)
      note += " Ranges are 90 % confidence intervals; the sensor's calibration error cancels in them.";
    else
      note += cat(" No confidence intervals: ", energy.why_no_interval, ".");
    if (energy.interval && !time.interval) note += cat(" None for the time: ", time.why_no_interval, ".");
    if (!baseline_came_again()) {
      note +=
          " There was no control block: the baseline was measured once, early. A GPU that was still warming "
          "up "
          "then drew less than it would have later, so the saving looks smaller than it is; the ranges do "
          "not "
          "include that.";
    }
    page_.say(note, Ink::faint);
  }

  /// "9.8 %", after a search "9.8 %, 9.1 to 10.4 %"; without sign, which the words beside it tell.
  [[nodiscard]] std::string whole_run(const Estimate& e) const {
    std::string out = percent(std::abs(e.value));
    if (!summary_.search || !e.interval) return out;
    const double sign = e.value < 0 ? -1 : 1;
    const double one = sign * e.interval->low;
    const double other = sign * e.interval->high;
    return cat(out, ", ", fixed(100 * std::min(one, other), 1), " to ", fixed(100 * std::max(one, other), 1),
               " %");
  }

  /// The found setting was looked at once more after another one had been in force.
  [[nodiscard]] bool baseline_came_again() const {
    // Blocks of several GPUs need not stand in the order of time.
    std::optional<TimePoint> away;
    for (const record::Block& b : run_.blocks)
      if (!b.setting.empty() && (!away || b.begin < *away)) away = b.begin;
    return away && std::ranges::any_of(run_.blocks, [&](const record::Block& b) {
             const bool at_found = b.role == BlockRole::baseline || b.role == BlockRole::control;
             return at_found && b.iterations > 0 && b.begin > *away;
           });
  }

  void gpu_section(const analyse::GpuSummary& g) {
    page_.heading(cat("GPU ", g.identity.index, " · ", g.identity.name, " · ", g.identity.id.uuid));
    if (g.energy) {
      const EnergyWindow& e = *g.energy;
      page_.row("energy", with_bands(e.energy, e.band_sampling, e.band_calibration));
      page_.row("mean power", cat(text_of(e.mean_power()), " over ", text_of(e.duration())));
      page_.row("source", cat(name_of(e.source.kind), ", ", e.source.name,
                              e.source.quality.empty() ? "" : ": ", e.source.quality));
    } else {
      page_.row("energy", cat("unknown: ", g.why_no_energy));
    }
    if (g.found)
      page_.row("found", cat(describe(*g.found), g.found->empty() ? "" : " (read from the driver)"));
    page_.row("set to", g.requested ? describe(*g.requested) : "nothing was set");
    if (!g.restoration) {
      page_.row("put back", running_ ? "not yet: the run goes on"
                                     : "not known: the record ends before; `rubato restore` looks after it");
      return;
    }
    switch (*g.restoration) {
      case Restoration::not_needed:
        page_.row("put back", "not needed");
        break;
      case Restoration::restored:
        page_.row("put back", with_detail("yes", g.restoration_detail));
        break;
      case Restoration::failed:
        page_.row("put back", with_detail("NO", g.restoration_detail), Ink::bad);
        page_.row("", "run `rubato restore`");
        break;
      case Restoration::left_alone:
        page_.row("put back", with_detail("left alone", g.restoration_detail), Ink::bad);
        break;
    }
  }

  [[nodiscard]] Kind kind() const {
    Kind kind = Kind::measured;
    for (const analyse::GpuSummary& g : summary_.gpus) kind = std::max(kind, g.kind);
    return kind;
  }

  void settings() {
    // One stretch without iterations says nothing that stands not above.
    if (summary_.settings.empty() || (summary_.settings.size() == 1 && summary_.settings[0].iterations == 0))
      return;
    page_.heading(
        cat("Settings (", name_of(kind()), summary_.gpus.size() > 1 ? ", all GPUs together)" : ")"));
    Table table({{"for"},
                 {"setting"},
                 {"time", true},
                 {"iterations", true},
                 {"each", true},
                 {"energy each", true},
                 {"power", true}});
    for (const analyse::SettingSummary& s : summary_.settings) {
      // The way to each try is many rows that nobody reads twice.
      if (brief_ && summary_.search && s.role == BlockRole::warmup && !s.setting.empty()) continue;
      table.add({std::string(name_of(s.role)), s.setting.empty() ? "as found" : describe(s.setting),
                 text_of(s.time), cat(s.iterations), s.iteration_time ? text_of(*s.iteration_time) : "-",
                 s.energy_per_iteration ? text_of(*s.energy_per_iteration) : "-",
                 s.mean_power ? text_of(*s.mean_power) : "-"});
    }
    page_.table(table);
  }

  void decisions() {
    if (run_.decisions.empty()) return;
    page_.heading("Decisions");
    const std::size_t at_each_end = brief_ ? 6 : 100;
    const std::size_t n = run_.decisions.size();
    for (std::size_t i = 0; i < n; ++i) {
      if (n > 2 * at_each_end && i == at_each_end) {
        i = n - at_each_end;
        page_.line(cat("  … ", n - 2 * at_each_end, " more: rubato show ", run_.info.run_id,
                       brief_ ? "" : " --json"));
      }
      const record::Decision& d = run_.decisions[i];
      std::string what = d.action;
      std::ranges::replace(what, '_', ' ');
      if (!d.setting.empty()) what += cat(" ", describe(d.setting));
      timed(d.at, cat(what, ": ", d.why));
    }
  }

  void events() {
    const std::vector<Event> events = worth_knowing(run_, summary_);
    if (events.empty()) return;
    page_.heading("Worth knowing");
    for (const Event& event : events) timed(event.at, event.what);
  }

  // Of a run that is over there is nothing to foretell; what it came to in money and CO2 is computed all the
  // same.
  void outlook() {
    if (!run_.end) {
      if (const auto forecast = analyse::forecast_of(run_, factors_)) {
        page_.heading(cat("Forecast after ", forecast->epochs_done, " epochs"));
        page_.say(forecast_text(*forecast, factors_));
      }
    }
    if (!factors_.any() || !summary_.total) return;
    page_.heading("Money and CO2 (computed from a factor, not measured)");
    page_.say(footprint_text(analyse::footprint_of(summary_.total->energy, factors_), factors_));
  }

  void own_cost() {
    if (!summary_.cost) return;
    const analyse::OwnCostSummary& c = *summary_.cost;
    page_.heading("Own cost (measured)");
    if (c.wall && run_.info.clock_rate != 1.0)
      page_.row("wall time", cat(text_of(*c.wall), ": the simulated world ran ",
                                 number(run_.info.clock_rate, 1), " times as fast as the wall clock"));
    page_.row("CPU",
              cat(text_of(c.cpu), c.cpu_fraction ? cat(", ", percent(*c.cpu_fraction), " of one core") : "",
                  ", driver included"));
    page_.row("driver", cat(c.driver.calls, " calls, ", text_of(c.driver.inside), " inside",
                            c.driver_fraction ? cat(", ", percent(*c.driver_fraction), " of the time") : ""));
    if (c.bytes_per_tick)
      page_.row("record", cat(fixed(*c.bytes_per_tick, 0), " bytes per tick, ", c.ticks, " ticks"));
  }

  static std::string with_detail(std::string_view verdict, const std::string& detail) {
    return detail.empty() ? std::string(verdict) : cat(verdict, ": ", detail);
  }

  void timed(TimePoint at, std::string_view what) {
    page_.timed(std::max(Seconds(0), at - run_.info.begin), what);
  }

  const record::RunRecord& run_;
  const Summary& summary_;
  Page page_;
  bool running_;
  analyse::Factors factors_;
  bool brief_;
};

}  // namespace

std::string run_report_text(const record::RunRecord& run, const Summary& summary, const TextOptions& options,
                            bool running, const analyse::Factors& factors, Detail detail) {
  return RunText(run, summary, options, running, factors, detail).text();
}

}  // namespace rubato::cli
