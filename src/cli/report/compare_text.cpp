#include <algorithm>
#include <cmath>

#include "cli/report/compare_report.h"
#include "cli/report/page.h"

namespace rubato::cli {
namespace {

using analyse::Difference;
using analyse::Metric;
using analyse::Side;

using Spoken = std::string (*)(double);

std::string seconds(double value) {
  return text_of(Seconds(value));
}
std::string joules(double value) {
  return text_of(Joules(value));
}
std::string watts(double value) {
  return text_of(Watts(value));
}
std::string joule_seconds(double value) {
  return text_of(Joules(value)) + "·s";
}

std::string signed_number(double fraction, int digits) {
  const std::string shown = fixed(100 * fraction, digits);
  return fraction > 0 && shown.find_first_not_of("0.") != std::string::npos ? "+" + shown : shown;
}

// "-7.5 % (-8.1 to -6.9 %)"; where no difference can be told, the range says how large it could be.
std::string difference_text(const Metric& metric) {
  if (!metric.difference) return "-";
  const Difference& d = *metric.difference;
  const double largest =
      d.interval ? std::max(std::abs(d.interval->low), std::abs(d.interval->high)) : std::abs(d.fraction);
  const int digits = largest < 0.0095 ? 2 : 1;
  const std::string range = d.interval ? cat(" (", signed_number(d.interval->low, digits), " to ",
                                             signed_number(d.interval->high, digits), " %)")
                                       : "";
  if (d.distinguishable == false) return cat("not distinguishable", range);
  return cat(signed_number(d.fraction, digits), " %", range);
}

bool differs(const Metric& metric) {
  return metric.difference->distinguishable != false && metric.difference->fraction != 0;
}

// "took 8.0 % more time", "used about as much GPU energy".
std::string clause(const Metric& metric, std::string_view verb, std::string_view what,
                   std::string_view none) {
  const Difference& d = *metric.difference;
  if (!differs(metric)) return std::string(none);
  return cat(verb, " ", percent(std::abs(d.fraction)), " ", d.fraction > 0 ? "more" : "less", " ", what);
}

std::string setting_text(const Setting& setting) {
  return setting.empty() ? "as found" : cat("at ", describe(setting));
}

class CompareText {
 public:
  CompareText(const Side& a, const Side& b, const analyse::Comparison& c, const TextOptions& options)
      : a_(a), b_(b), c_(c), page_(options) {}

  std::string text() {
    side("A", a_);
    side("B", b_);
    page_.gap();
    headline();
    warnings();
    figures();
    differing();
    notes();
    return page_.take();
  }

 private:
  void side(std::string_view name, const Side& side) {
    const auto& end = side.run.end;
    std::string line = cat(name, "  ", side.run.info.run_id, " · ", side.run.info.mode);
    if (side.running)
      line += " · still running";
    else if (!end)
      line += " · cut short";
    else if (record::attached(side.run))
      line += " · a job that ran already";
    else if (!side.run.info.command.empty())
      line += cat(" · ", ending(end->exit_code, end->exit_signal, true));
    page_.line(line, Ink::bold);
    if (!side.run.info.command.empty())
      page_.line(cat("   $ ", command_line(side.run.info.command)), Ink::faint);
  }

  void headline() {
    const bool iterations = c_.iteration_time.difference && c_.iteration_energy.difference;
    const Metric& time = iterations ? c_.iteration_time : c_.time;
    const Metric& energy = iterations ? c_.iteration_energy : c_.energy;
    if (!time.difference || !energy.difference) {
      const Metric& lacking = time.difference ? energy : time;
      page_.say(cat("The runs cannot be compared: ", lacking.why_no_difference, "."), Ink::bold);
      return;
    }
    // "as A" goes with "about as", "than A" with "more" and "less".
    const std::string_view first = differs(time) ? " than A" : " as A";
    const std::string_view second = differs(energy) ? " than A" : " as A";
    page_.say(cat(iterations ? "Per iteration, B " : "B ", clause(time, "took", "time", "took about as long"),
                  first == second ? "" : first, " and ",
                  clause(energy, "used", "GPU energy", "used about as much GPU energy"),
                  first == second ? second : "", "."),
              Ink::bold);
  }

  void warnings() {
    for (const auto& warning : c_.warnings) page_.say_after("  ! ", warning.sentence, Ink::bad);
  }

  void figures() {
    page_.heading(cat("Whole runs", kinds()));
    Table whole = table();
    row(whole, "time", c_.time, seconds);
    row(whole, "energy", c_.energy, joules);
    row(whole, "mean power", c_.mean_power, watts);
    row(whole, "EDP", c_.energy_delay, joule_seconds);
    page_.table(whole);
    if (!c_.energy.difference)
      page_.say(cat("No difference: ", c_.energy.why_no_difference, "."), Ink::faint);

    if (!c_.iteration_time.a && !c_.iteration_time.b) return;
    page_.heading(
        cat("Per iteration (A ", setting_text(c_.settled_a), ", B ", setting_text(c_.settled_b), ")"));
    Table each = table();
    row(each, "time", c_.iteration_time, seconds);
    row(each, "energy", c_.iteration_energy, joules);
    row(each, "EDP", c_.iteration_energy_delay, joule_seconds);
    page_.table(each);
    if (!c_.iteration_time.difference)
      page_.say(cat("No difference: ", c_.iteration_time.why_no_difference, "."), Ink::faint);
  }

  void differing() {
    if (c_.differing.empty()) return;
    page_.heading("What else differs");
    std::size_t widest = 0;
    for (const auto& fact : c_.differing) widest = std::max(widest, fact.name.size());
    for (const auto& fact : c_.differing) {
      std::string name = fact.name;
      std::ranges::replace(name, '_', ' ');
      line(padded(name, widest), "A", fact.a);
      line(padded("", widest), "B", fact.b);
    }
  }

  void notes() {
    page_.gap();
    std::string note;
    const auto uses = [](const Metric& m, analyse::Range range) {
      return m.difference && m.difference->range == range;
    };
    if (uses(c_.energy, analyse::Range::sensor_bands) || uses(c_.mean_power, analyse::Range::sensor_bands))
      note += cat(
          "Ranges of whole runs are the sensor's error at its worst",
          analyse::same_sensors(a_, b_) ? ", its calibration left out, as it is the same on both sides" : "",
          "; how much another run of the same job would differ is not in them. ");
    if (uses(c_.iteration_energy, analyse::Range::confidence))
      note +=
          cat("Ranges per iteration are 90 % confidence intervals",
              analyse::same_sensors(a_, b_) ? "" : ", those of energy widened by both sensors' calibration",
              ". ");
    else if (c_.iteration_energy.difference)
      note += cat("No ranges per iteration: ", c_.iteration_energy.difference->why_no_interval, ". ");
    note += "A difference below two standard errors is called not distinguishable.";
    page_.say(note, Ink::faint);
  }

  [[nodiscard]] std::string kinds() const {
    const auto of = [](const Side& side) {
      Kind kind = Kind::measured;
      for (const auto& gpu : side.summary.gpus) kind = std::max(kind, gpu.kind);
      return std::string(name_of(kind));
    };
    const std::string a = of(a_);
    const std::string b = of(b_);
    return a == b ? cat(" (", a, ")") : cat(" (A ", a, ", B ", b, ")");
  }

  static Table table() { return Table({{""}, {"A", true}, {"B", true}, {"difference"}}); }
  static void row(Table& table, const char* name, const Metric& m, Spoken spoken) {
    table.add({padded(name, 10), m.a ? spoken(*m.a) : "-", m.b ? spoken(*m.b) : "-", difference_text(m)});
  }
  void line(std::string_view name, std::string_view side, const std::string& value) {
    page_.say_after(cat("  ", name, "  ", side, "  "), cut(value, value.size()));
  }

  const Side& a_;
  const Side& b_;
  const analyse::Comparison& c_;
  Page page_;
};

}  // namespace

std::string compare_text(const Side& a, const Side& b, const analyse::Comparison& comparison,
                         const TextOptions& options) {
  return CompareText(a, b, comparison, options).text();
}

}  // namespace rubato::cli
