#include "prediction_evidence/page.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "prediction_evidence/jackknife.h"
#include "prediction_evidence/lines.h"
#include "prediction_evidence/missed.h"

namespace rubato::prediction_evidence {
namespace {

using experiment::Validation;

std::string percent(const std::optional<double>& fraction, int digits = 2) {
  return fraction ? number(*fraction * 100, digits) : "-";
}

std::string points(const std::optional<double>& fraction) {
  return fraction ? number(*fraction, 2) : "-";
}

/// As what was reached elsewhere is told.
double two_digits(double value) {
  if (!(value > 0)) return value;
  const double unit = std::pow(10.0, std::floor(std::log10(value)) - 1);
  return std::round(value / unit) * unit;
}

/// One figure against what was asked of it.
struct Figure {
  std::string what;
  std::optional<double> found;
  double asked;
  bool at_least = false;
  std::optional<double> floor;      // by all other rows of the workload
  std::optional<double> between;    // the same, of the rows that lie between others
  std::optional<double> defaults;   // by workloads whose defaults are alike
  std::optional<double> hindsight;  // of all models, and of such workloads of other groups
  std::optional<double> informed;   // learning from the table asked about as well
  std::optional<double> elsewhere;  // by a model that is none of these
  std::optional<double> error;      // standard, over groups
  [[nodiscard]] bool good(double value) const { return at_least ? value >= asked : value <= asked; }
  [[nodiscard]] bool reached() const { return found && good(*found); }
  [[nodiscard]] bool better(double value, double bound) const {
    return at_least ? value > bound : value < bound;
  }
  [[nodiscard]] bool beats(double bound) const { return found && better(*found, bound); }
  /// By more than the rounding of what was told.
  [[nodiscard]] bool beaten_elsewhere(double bound) const {
    return elsewhere && better(*elsewhere, two_digits(bound)) &&
           std::abs(*elsewhere - two_digits(bound)) > 1e-9;
  }
  [[nodiscard]] bool beaten(double bound) const { return beats(bound) || beaten_elsewhere(bound); }
  [[nodiscard]] std::string text(double value) const {
    return at_least ? number(value, 3) : cat(number(value * 100, 2), " %");
  }
  [[nodiscard]] std::string cell() const {
    if (!found) return "-";
    return reached() ? text(*found) : cat("**", text(*found), "**");
  }
};

std::vector<Figure> figures(const Outcome& of, const Validation& found) {
  std::vector<Figure> out = {
      {"time error", found.errors.time, of.of.asked.time, false, of.floor.time, of.floor.time_between},
      {"energy error", found.errors.energy, of.of.asked.energy, false, of.floor.energy,
       of.floor.energy_between},
      {"energy regret", found.energy_regret, of.of.asked.regret, false, of.choices.regret},
      {"captured", found.at_bound.captured, of.of.asked.captured, true, of.choices.captured}};
  const auto put = [&](std::optional<double> Figure::*where, const std::optional<Neighbours>& floor) {
    if (!floor) return;
    out[0].*where = floor->time;
    out[1].*where = floor->energy;
    out[2].*where = floor->regret;
    out[3].*where = floor->captured;
  };
  put(&Figure::defaults, of.defaults);
  put(&Figure::hindsight, of.hindsight);
  put(&Figure::informed, of.informed);
  if (const auto& told = of.of.elsewhere)
    put(&Figure::elsewhere, Neighbours{told->time, told->energy, told->regret, told->captured});
  put(&Figure::error, standard_errors(found));
  return out;
}

bool covered(const Validation& found) {
  const auto& share = found.coverage.both;
  return share && *share >= kLeastCoverage && *share <= kMostCoverage;
}

void words() {
  line(R"(# Predicting workloads never seen

Made by `rubato-prediction-evidence --data ../shared/data > docs/evidence/prediction.md` (bench/prediction_evidence) from public
tables that others **measured** on real GPUs (V100, P100 and A100 SXM: ml-energy/zeus and its Perseus artifact; V100 clocks:
blackjack2015/NV-DVFS-Benchmark; GTX 1080 Ti: HKBU-HPML/GPU-DVFS-Job-Schedule; A100 PCIe: giordano/gpu-power-frequency-benchmarks).
rubato measured none of them. `rubato model validate --table FILE --knobs LIST --probes N --model NAME` gives the same figures
for one table, and [formats.md](../formats.md#rubatovalidate1) says what each one means.

- One group of workloads is left out at a time, or everything is learnt from another table. A model sees the run of a workload at
  its default setting, its counters there where the table has any, and N probes that it asked for itself; never a name, a group or
  another row. Hyper-parameters are chosen inside what was learnt from.
- Errors are means over rows that are neither default nor probed, of distinct workloads. Regret: what the chosen setting costs above the
  best one, without a bound. Captured: mean saving over mean best saving inside 5 % more time, a broken bound counting as
  zero. Host watts are not counted.
- **Noise floor**: a row predicted from all other rows of its own workload (monotone, no overshoot). The figure *between* leaves out the rows
  at the end of a knob, which have to be extrapolated. Learning from other workloads can go below the first, hardly below the second.
- **Noise floor of a choice**: regret and captured of one who knows those same predictions from all other rows and probes as often, by
  rubato's own rules (`plan::next_probe`, `plan::choose`); how unsure to be of them is chosen in hindsight for each figure. A model can do
  better by what workloads have in common; it shows how much of a choice is the table's noise.
- **Default floor**, without probes and groups left out: what one default run tells at all. Rows are predicted (local constant or linear, least
  absolute errors) and settings chosen from the workloads of the same table whose default power and counters are nearest, *others of the same group
  included*, which no model here may see; which of the two and how near is chosen in hindsight for each figure. Where that is worse than
  what was asked, the default run hardly tells enough.
- **Hindsight**: the best of what can be made, from what a model may see, with everything chosen in hindsight for each figure: any
  mixture (tenths) of the models below, any one of them for a choice, or such neighbours, of other groups or of the table learnt from.
  With probes, any one of the models, because each probes elsewhere.
  It is no floor: it bounds weighing and smoothing of the models that are here, and says nothing of any other.
- **Elsewhere**: what a model that is none of these (Gaussian processes and a shared curve, a day's work of somebody else) reached on the same
  tables, judged alike, as it was told: two digits, and not made by this command. It is shown where it is nearer than what "rubato" found.
- **Informed**, where everything is learnt from another table: `physical` and `shared-curve` when they learn from the other groups of the table
  asked about as well, the better of the two in hindsight for each figure. Where even that is worse than what was asked, it is not the other
  table alone that lacks something.
- A floor that is worse than what "rubato" found proves nothing, and is said to be *beaten*; so is one that is worse than what was reached
  elsewhere. It still shows how much of the figure is noise.
- **±**: one standard error over the groups of the table (jackknife). What is missed by less may be missed by the choice of workloads.
- Averages of many rows hide that most of these tables were measured once, without repeats.
)");
}

void main_table(const std::vector<Outcome>& asked) {
  line("## What was asked, and what \"" + std::string(kLearners[0]) + "\" reaches\n");
  line(
      "Bold: not reached. \"asked\" is at most, for captured at least; coverage is asked to lie within 85 to "
      "95 %.\n");
  line(
      "| case | time: asked | found | floor (between) | energy: asked | found | floor (between) | regret: "
      "asked | found | "
      "captured: asked | found | 90 % intervals hold |\n|---|---|---|---|---|---|---|---|---|---|---|---|");
  for (const Outcome& o : asked) {
    if (o.judged.empty() || !o.judged.front().found) continue;
    const Validation& found = *o.judged.front().found;
    const auto f = figures(o, found);
    std::string coverage = cat(percent(found.coverage.both, 1), " %");
    if (!covered(found)) coverage = cat("**", coverage, "**");
    line(cat("| ", title(o.of), " | ", f[0].text(f[0].asked), " | ", f[0].cell(), " | ",
             percent(o.floor.time), " (", percent(o.floor.time_between), ") % | ", f[1].text(f[1].asked),
             " | ", f[1].cell(), " | ", percent(o.floor.energy), " (", percent(o.floor.energy_between),
             ") % | ", f[2].text(f[2].asked), " | ", f[2].cell(), " | ", f[3].text(f[3].asked), " | ",
             f[3].cell(), " | ", coverage, " |"));
  }
  line("");
}

/// On how few workloads a mean saving hangs.
std::string carried_by(const Validation& found) {
  std::size_t savers = 0;
  double all = 0;
  double most = 0;
  for (const auto& workload : found.judged) {
    savers += workload.oracle_saving > 0 ? 1 : 0;
    all += workload.oracle_saving;
    most = std::max(most, workload.oracle_saving);
  }
  return cat("; ", savers, " of ", found.judged.size(), " workloads can save anything, one of them ",
             number(100 * most / all, 0), " % of it all");
}

void not_reached(const std::vector<Outcome>& asked) {
  line("## Not reached\n");
  bool all = true;
  for (const Outcome& o : asked) {
    if (o.judged.empty()) continue;
    const Judged& own = o.judged.front();
    if (!own.found) {
      all = false;
      line(cat("- ", title(o.of), ": ", own.learner, " refuses: ", own.found.error().what, "."));
      continue;
    }
    for (const Figure& figure : figures(o, *own.found)) {
      if (figure.reached()) continue;
      all = false;
      std::string said = cat("- ", title(o.of), ": ", figure.what, " ", figure.cell());
      if (figure.error) said += cat(" (± ", figure.text(*figure.error), ")");
      said += cat(", asked ", figure.at_least ? "at least " : "at most ", figure.text(figure.asked));
      const auto show = [&](std::string_view what, const std::optional<double>& floor) {
        if (!floor) return;
        said += cat("; ", what, " ", figure.text(*floor));
        if (figure.good(*floor)) return;
        said += ", worse than asked";
        if (figure.beaten(*floor)) said += figure.beats(*floor) ? " but beaten" : " but beaten elsewhere";
      };
      show("noise floor", figure.floor);
      show("between rows", figure.between);
      show("default floor", figure.defaults);
      show("hindsight", figure.hindsight);
      show("informed", figure.informed);
      if (figure.beaten_elsewhere(*figure.found)) show("elsewhere", figure.elsewhere);
      if (figure.what == "captured") said += carried_by(*own.found);
      for (const Judged& other : o.judged) {
        if (&other == &own || !other.found) continue;
        for (const Figure& theirs : figures(o, *other.found))
          if (theirs.what == figure.what && theirs.reached())
            said += cat("; ", other.learner, " alone reaches ", theirs.text(*theirs.found));
      }
      line(said + ".");
    }
    if (!covered(*own.found)) {
      all = false;
      line(cat("- ", title(o.of), ": 90 % intervals hold ", percent(own.found->coverage.both, 1), " % (time ",
               percent(own.found->coverage.time, 1), ", energy ", percent(own.found->coverage.energy, 1),
               ")."));
    }
  }
  if (all) line("Nothing: every figure above is reached.");
  line("");
}

void floors(const std::vector<Outcome>& asked) {
  line("## Floors of the choices, and of what a default run tells\n");
  line("Bold: worse than what was asked, and not beaten, here or elsewhere.\n");
  line(
      "| case | noise floor: regret | captured | default floor: time | energy | regret | captured | "
      "hindsight: "
      "time | energy | regret | captured | informed: time | energy | regret | captured "
      "|\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
  for (const Outcome& o : asked) {
    if (o.judged.empty() || !o.judged.front().found) continue;
    const auto f = figures(o, *o.judged.front().found);
    const auto cell = [](const Figure& figure, const std::optional<double>& floor) -> std::string {
      if (!floor) return "-";
      const std::string text = figure.text(*floor);
      return figure.good(*floor) || figure.beaten(*floor) ? text : cat("**", text, "**");
    };
    line(cat("| ", title(o.of), " | ", cell(f[2], f[2].floor), " | ", cell(f[3], f[3].floor), " | ",
             cell(f[0], f[0].defaults), " | ", cell(f[1], f[1].defaults), " | ", cell(f[2], f[2].defaults),
             " | ", cell(f[3], f[3].defaults), " | ", cell(f[0], f[0].hindsight), " | ",
             cell(f[1], f[1].hindsight), " | ", cell(f[2], f[2].hindsight), " | ", cell(f[3], f[3].hindsight),
             " | ", cell(f[0], f[0].informed), " | ", cell(f[1], f[1].informed), " | ",
             cell(f[2], f[2].informed), " | ", cell(f[3], f[3].informed), " |"));
  }
  line("");
}

void all_learners(const Outcome& o) {
  line(cat("### ", title(o.of), "\n"));
  line(
      "| model | time | energy | EDP | energy regret | EDP regret | captured | worst slowdown | intervals "
      "hold: both | time | "
      "energy |\n|---|---|---|---|---|---|---|---|---|---|---|");
  for (const Judged& j : o.judged) {
    if (!j.found) {
      line(cat("| ", j.learner, " | refuses: ", j.found.error().what, " | | | | | | | | | |"));
      continue;
    }
    const Validation& v = *j.found;
    line(cat("| ", j.learner, " | ", percent(v.errors.time), " % | ", percent(v.errors.energy), " % | ",
             percent(v.errors.edp), " % | ", percent(v.energy_regret), " % | ", percent(v.edp_regret),
             " % | ", points(v.at_bound.captured), " | ", percent(v.at_bound.worst_slowdown, 1), " % | ",
             percent(v.coverage.both, 1), " % | ", percent(v.coverage.time, 1), " % | ",
             percent(v.coverage.energy, 1), " % |"));
  }
  line(cat("| *noise floor (between)* | ", percent(o.floor.time), " (", percent(o.floor.time_between),
           ") % | ", percent(o.floor.energy), " (", percent(o.floor.energy_between),
           ") % | | | | | | | | |\n"));
}

void counts(const Outcome& o) {
  for (const Judged& j : o.judged)
    if (j.found) {
      line(cat(j.found->workloads, " workloads, ", j.found->workloads_distinct, " distinct, ",
               j.found->groups, " groups; the best fixed settings inside the bound save ",
               percent(j.found->at_bound.oracle_saving), " %.\n"));
      return;
    }
}

}  // namespace

void print_page(const std::vector<Outcome>& asked, const std::vector<Outcome>& told) {
  words();
  main_table(asked);
  not_reached(asked);
  print_missed_savings(asked);
  floors(asked);
  line("## Every model\n");
  for (const Outcome& o : asked) {
    all_learners(o);
    counts(o);
  }
  line("## A100 PCIe, apart\n");
  line(
      "Three workloads, power limit and SM clock set together: too few to ask anything, and nothing was "
      "tuned on it, except that intervals learnt from two groups are widened for unlike workloads.\n");
  for (const Outcome& o : told) {
    all_learners(o);
    counts(o);
  }
}

}  // namespace rubato::prediction_evidence
