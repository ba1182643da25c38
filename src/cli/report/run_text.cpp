#include <algorithm>

#include "cli/report/headline.h"
#include "cli/report/iteration_text.h"
#include "cli/report/page.h"
#include "cli/report/parts_text.h"
#include "cli/report/run_report.h"
#include "cli/report/search_report.h"
#include "cli/report/worth_knowing.h"

namespace rubato::cli {
namespace {

using analyse::Summary;

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
    if (record::attached(run_) && run_.end)
      line += " · a job that ran already";
    else if (run_.end && !run_.info.command.empty())
      line += cat(" · ", ending(run_.end->exit_code, run_.end->exit_signal, true));
    else if (!run_.end)
      line += running_ ? " · still running" : " · cut short";
    if (summary_.duration) line += cat(" · ", text_of(*summary_.duration));
    page_.line(line, Ink::bold);
    if (!run_.info.command.empty()) page_.line(cat("$ ", command_line(run_.info.command)), Ink::faint);
    page_.gap();
  }

  /// What was held, and what was in force last where that was only tried.
  [[nodiscard]] std::string set_to(const analyse::GpuSummary& g) const {
    if (!g.requested) return "nothing was set";
    const std::string last = describe(*g.requested);
    std::optional<Setting> held;
    bool tried = false;
    for (const record::Block& block : run_.blocks) {
      if (block.gpu != g.identity.id) continue;
      if (block.role == BlockRole::hold) held = block.setting;
      tried = tried || block.role == BlockRole::trial;
    }
    if (!tried || (held && describe(*held) == last)) return last;
    return cat(!held || held->empty() ? "none held" : describe(*held), "; last tried: ", last);
  }

  void headline() {
    for (const Sentence& sentence : headline_of(run_, summary_, running_))
      page_.say(sentence.text, sentence.ink);
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
    page_.row("set to", set_to(g));
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
    page_.heading(cat("Settings (", name_of(kind()), summary_.gpus.size() > 1 ? ", all GPUs together" : "",
                      run_.goal && run_.goal->goal.power_budget ? "; the limit is that of the first)" : ")"));
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
