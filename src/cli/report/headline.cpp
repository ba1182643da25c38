#include "cli/report/headline.h"

#include <algorithm>
#include <cmath>

#include "cli/report/page.h"
#include "cli/report/parts_text.h"
#include "cli/report/search_report.h"

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

class Headline {
 public:
  Headline(const record::RunRecord& run, const Summary& summary, bool running)
      : run_(run), summary_(summary), running_(running) {}

  std::vector<Sentence> take() {
    headline();
    return std::move(sentences_);
  }

 private:
  void say(std::string text, std::optional<Ink> ink = {}) { sentences_.push_back({std::move(text), ink}); }

  void headline() {
    if (!run_.end)
      say(running_ ? "This run goes on: what follows is the part so far, without the last second."
                   : "This record was cut short. Where rubato was killed, at most the last second is "
                     "missing; where the disk was full, or the record was copied without its log, all "
                     "that came later.");
    if (summary_.savings)
      savings(*summary_.savings);
    else {
      used();
      say(summary_.why_no_savings);
    }
    if (run_.goal && run_.goal->goal.power_budget) shares(*run_.goal->goal.power_budget);
    if (summary_.search) say(search_sentence(*summary_.search, summary_.duration));
    bystanders();
  }

  /// What came of a power budget, in the strategy's latest words.
  void shares(Watts budget) {
    const record::Decision* latest = nullptr;
    for (const record::Decision& d : run_.decisions)
      if (d.action == "shares") latest = &d;
    if (latest != nullptr)
      say(cat("Of a power budget of ", budget, ", the limits in the order of the GPUs: ", latest->why, "."));
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
    say(cat(n == 1 ? "One more GPU was measured on which the job never computed"
                   : cat(n, " more GPUs were measured on which the job never computed"),
            all_known ? cat(": ", text_of(together), ", not counted.") : ", not counted."));
  }

  void used() {
    if (summary_.gpus.empty())
      say(run_.end ? "No GPU was measured: none was found, or none was asked for."
                   : "Nothing was recorded of a GPU: the run has only begun, or was cut short at once.",
          Ink::bold);
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
    if (const int exponent = run_.goal ? delay_exponent(run_.goal->goal.objective) : 0; exponent > 0)
      say(cat(exponent == 1 ? "Energy times time (EDP)" : "Energy times time squared (ED2P)",
              ", which was to become small: ",
              change(exponent == 1 ? s.edp_per_iteration : s.ed2p_per_iteration, "less", "more"),
              " per iteration."));
    say(cat("Over the whole run, ", summary_.search ? "search, " : "",
            "start and stretches at the found setting included: ", text_of(abs(s.run_saved)),
            s.run_saved >= Joules(0) ? " less" : " more", " (", whole_run(s.run_energy), ") and ",
            text_of(abs(s.run_longer)), s.run_longer >= Seconds(0) ? " longer" : " shorter", " (",
            whole_run(s.run_slowdown), ")."));
    if (const std::string host = host_saving_text(s, summary_.scopes.host); !host.empty()) say(host);
    if (run_.goal)
      if (const std::string weighed = weighed_saving_text(s, run_.goal->goal, summary_.gpus.size());
          !weighed.empty())
        say(weighed);
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
    say(note, Ink::faint);
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
             const bool at_found =
                 b.setting.empty() &&
                 (b.role == BlockRole::baseline || b.role == BlockRole::control || b.role == BlockRole::hold);
             return at_found && b.iterations > 0 && b.begin > *away;
           });
  }

  const record::RunRecord& run_;
  const Summary& summary_;
  bool running_;
  std::vector<Sentence> sentences_;
};

}  // namespace

std::vector<Sentence> headline_of(const record::RunRecord& run, const analyse::Summary& summary,
                                  bool running) {
  return Headline(run, summary, running).take();
}

}  // namespace rubato::cli
