#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "cli/report/run_report.h"
#include "cli/report/worth_knowing.h"
#include "report/format.h"
#include "report/layout.h"

namespace rubato::cli {
namespace {

using report::command_line;
using report::cut;
using report::ending;
using report::fixed;
using report::Ink;
using report::ink;
using report::padded;
using report::percent;
using report::Table;
using report::text_of;
using report::TextOptions;
using report::wrapped;

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

// " (20.8 to 22.0 %)". Where there is none the note below the figures says so once, and why.
std::string interval(const analyse::Estimate& estimate) {
  if (!estimate.interval) return {};
  const int digits = std::abs(estimate.value) < 0.0095 ? 2 : 1;
  return cat(" (", fixed(100 * estimate.interval->low, digits), " to ",
             fixed(100 * estimate.interval->high, digits), " %)");
}

// Down a timeline one unit reads best; minutes begin where seconds become hard to picture.
std::string moment(Seconds since_begin) {
  return since_begin < Seconds(599.95) ? cat(fixed(since_begin.value(), 1), " s") : text_of(since_begin);
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
  return cat(percent(shown.value), " ", flip ? negative : positive, interval(shown));
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
  RunText(const record::RunRecord& run, const Summary& summary, const TextOptions& options, bool running)
      : run_(run), summary_(summary), options_(options), running_(running) {}

  std::string text() {
    title();
    headline();
    for (const analyse::GpuSummary& gpu : summary_.gpus) gpu_section(gpu);
    settings();
    decisions();
    events();
    own_cost();
    return std::move(out_);
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
    out_ += ink(cut(line, width()), Ink::bold, options_) + "\n";
    if (!run_.info.command.empty())
      out_ += ink(cut(cat("$ ", command_line(run_.info.command)), width()), Ink::faint, options_) + "\n";
    out_ += "\n";
  }

  void headline() {
    if (!run_.end)
      say(running_ ? "This run goes on: what follows is the part so far, without the last second."
                   : "This record was cut short: rubato was killed. At most the last second is missing.");
    if (summary_.savings)
      savings(*summary_.savings);
    else {
      used();
      say(summary_.why_no_savings);
    }
  }

  void used() {
    if (summary_.gpus.empty()) say("No GPU was measured: none was found, or none was asked for.", Ink::bold);
    if (!summary_.total) return;
    const EnergyWindow& total = *summary_.total;
    say(cat(summary_.gpus.size() == 1 ? "The GPU" : cat("The ", summary_.gpus.size(), " GPUs"), " used ",
            text_of(total.energy), " in ", text_of(total.duration()), ", ", text_of(total.mean_power()),
            " on average. ", meaning(total.source.kind)),
        Ink::bold);
  }

  void savings(const Savings& s) {
    const Estimate& energy = s.energy_per_iteration;
    const Estimate& time = s.slowdown;
    const std::string less = change(energy, "less GPU energy", "more GPU energy");
    const std::string longer = change(time, "more time", "less time");
    const std::string at = cat("At ", held_setting(summary_), ", ");
    if (undecided(energy))
      say(cat(at, "no difference in energy can be told from the noise: ", less, " per iteration and ", longer,
              " than at the setting that was found."),
          Ink::bold);
    else
      say(cat(at, "each iteration took ", less, " and ", longer, " than at the setting that was found."),
          energy.value > 0 ? Ink::good : Ink::bad);
    say(cat(
        "Over the whole run, start and stretches at the found setting included: ", text_of(abs(s.run_saved)),
        s.run_saved >= Joules(0) ? " less" : " more", " (", percent(std::abs(s.run_energy.value)), ") and ",
        text_of(abs(s.run_longer)), s.run_longer >= Seconds(0) ? " longer" : " shorter", " (",
        percent(std::abs(s.run_slowdown.value)), ")."));
    std::string note = meaning(s.kind);
    if (energy.interval)
      note += " Ranges are 90 % confidence intervals; the sensor's calibration error cancels in them.";
    else
      note += cat(" No confidence intervals: ", energy.why_no_interval, ".");
    if (energy.interval && !time.interval) note += cat(" None for the time: ", time.why_no_interval, ".");
    if (!has_control_block()) {
      note +=
          " There was no control block: the baseline was measured once, early. A GPU that was still warming "
          "up "
          "then drew less than it would have later, so the saving looks smaller than it is; the ranges do "
          "not "
          "include that.";
    }
    say(note, Ink::faint);
  }

  [[nodiscard]] bool has_control_block() const {
    return std::ranges::any_of(summary_.settings,
                               [](const analyse::SettingSummary& s) { return s.role == BlockRole::control; });
  }

  void gpu_section(const analyse::GpuSummary& g) {
    heading(cat("GPU ", g.identity.index, " · ", g.identity.name, " · ", g.identity.id.uuid));
    if (g.energy) {
      const EnergyWindow& e = *g.energy;
      row("energy", cat(text_of(e.energy), " ± ", report::band_text(e.band_sampling, e.energy),
                        " sampling, ± ", report::band_text(e.band_calibration, e.energy), " calibration"));
      row("mean power", cat(text_of(e.mean_power()), " over ", text_of(e.duration())));
      row("source", cat(name_of(e.source.kind), ", ", e.source.name, e.source.quality.empty() ? "" : ": ",
                        e.source.quality));
    } else {
      row("energy", cat("unknown: ", g.why_no_energy));
    }
    if (g.found) row("found", cat(describe(*g.found), g.found->empty() ? "" : " (read from the driver)"));
    row("set to", g.requested ? describe(*g.requested) : "nothing was set");
    if (!g.restoration) {
      row("put back", running_ ? "not yet: the run goes on"
                               : "not known: the record ends before; `rubato restore` looks after it");
      return;
    }
    switch (*g.restoration) {
      case Restoration::not_needed:
        row("put back", "not needed");
        break;
      case Restoration::restored:
        row("put back", with_detail("yes", g.restoration_detail));
        break;
      case Restoration::failed:
        row("put back", with_detail("NO", g.restoration_detail), Ink::bad);
        row("", "run `rubato restore`");
        break;
      case Restoration::left_alone:
        row("put back", with_detail("left alone", g.restoration_detail), Ink::bad);
        break;
    }
  }

  void settings() {
    // One stretch without iterations says nothing that stands not above.
    if (summary_.settings.empty() || (summary_.settings.size() == 1 && summary_.settings[0].iterations == 0))
      return;
    Kind kind = Kind::measured;
    for (const analyse::GpuSummary& g : summary_.gpus) kind = std::max(kind, g.kind);
    heading(cat("Settings (", name_of(kind), summary_.gpus.size() > 1 ? ", all GPUs together)" : ")"));
    Table table({{"for"},
                 {"setting"},
                 {"time", true},
                 {"iterations", true},
                 {"each", true},
                 {"energy each", true},
                 {"power", true}});
    for (const analyse::SettingSummary& s : summary_.settings)
      table.add({std::string(name_of(s.role)), s.setting.empty() ? "as found" : describe(s.setting),
                 text_of(s.time), cat(s.iterations), s.iteration_time ? text_of(*s.iteration_time) : "-",
                 s.energy_per_iteration ? text_of(*s.energy_per_iteration) : "-",
                 s.mean_power ? text_of(*s.mean_power) : "-"});
    out_ += table.text(2, options_);
  }

  void decisions() {
    if (run_.decisions.empty()) return;
    heading("Decisions");
    constexpr std::size_t kAtEachEnd = 6;
    const std::size_t n = run_.decisions.size();
    for (std::size_t i = 0; i < n; ++i) {
      if (n > 2 * kAtEachEnd && i == kAtEachEnd) {
        i = n - kAtEachEnd;
        out_ += cat("  … ", n - 2 * kAtEachEnd, " more: rubato show ", run_.info.run_id, " --json\n");
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
    heading("Worth knowing");
    for (const Event& event : events) timed(event.at, event.what);
  }

  void own_cost() {
    if (!summary_.cost) return;
    const analyse::OwnCostSummary& c = *summary_.cost;
    heading("Own cost (measured)");
    if (c.wall && run_.info.clock_rate != 1.0)
      row("wall time", cat(text_of(*c.wall), ": the simulated world ran ", number(run_.info.clock_rate, 1),
                           " times as fast as the wall clock"));
    row("CPU", cat(text_of(c.cpu), c.cpu_fraction ? cat(", ", percent(*c.cpu_fraction), " of one core") : "",
                   ", driver included"));
    row("driver", cat(c.driver.calls, " calls, ", text_of(c.driver.inside), " inside",
                      c.driver_fraction ? cat(", ", percent(*c.driver_fraction), " of the time") : ""));
    if (c.bytes_per_tick)
      row("record", cat(fixed(*c.bytes_per_tick, 0), " bytes per tick, ", c.ticks, " ticks"));
  }

  [[nodiscard]] std::size_t width() const { return static_cast<std::size_t>(options_.width); }

  static std::string with_detail(std::string_view verdict, const std::string& detail) {
    return detail.empty() ? std::string(verdict) : cat(verdict, ": ", detail);
  }

  void heading(const std::string& text) {
    out_ += cat("\n", ink(cut(text, width()), Ink::bold, options_), "\n");
  }

  // Colour goes around whole lines, so that wrapping need not count escape sequences.
  void coloured(const std::string& lines, std::optional<Ink> colour) {
    for (const std::string& line : split(std::string_view(lines).substr(0, lines.size() - 1), '\n'))
      out_ += cat(colour ? ink(line, *colour, options_) : line, "\n");
  }
  void say(std::string_view sentence, std::optional<Ink> colour = {}) {
    coloured(wrapped(sentence, "  ", options_.width), colour);
  }
  void row(std::string_view key, std::string_view value, std::optional<Ink> colour = {}) {
    coloured(wrapped(cut(value, value.size()), padded(cat("  ", key), 14), options_.width), colour);
  }
  void timed(TimePoint at, std::string_view what) {
    const std::string offset = moment(std::max(Seconds(0), at - run_.info.begin));
    out_ += wrapped(cut(what, what.size()), cat("  ", padded(offset, 12, true), "  "), options_.width);
  }

  const record::RunRecord& run_;
  const Summary& summary_;
  TextOptions options_;
  bool running_;
  std::string out_;
};

}  // namespace

std::string run_report_text(const record::RunRecord& run, const Summary& summary, const TextOptions& options,
                            bool running) {
  return RunText(run, summary, options, running).text();
}

}  // namespace rubato::cli
