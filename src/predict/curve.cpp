#include "predict/curve.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "base/text.h"
#include "core/sweep_workloads.h"
#include "predict/roofline/roofline.h"

namespace rubato::predict {
namespace {

// Between units there lies a factor of 1000 (W and mW, s and ms, MHz and GHz); between the settings of one
// workload there do not lie 100: memory clocks span 23 (405 to 9501 MHz), SM clocks 15.
constexpr double kLargestSpan = 100.0;
// A limit over the power drawn: 35 for a board of 700 W that idles, 800 and more where one is in mW.
constexpr double kLargestOverPower = 500.0;
// energy_j against time_s x power_w; tables that measured them apart differ by a few percent.
constexpr double kLargestMismatch = 2.0;

KnobPoint point_of(const SweepRow& row) {
  return {row.power_limit, row.sm_clock, row.memory_clock};
}

KnobPoint without(KnobPoint at, std::span<const Knob> knobs) {
  for (const Knob knob : knobs) {
    if (knob == Knob::power_limit) at.power_limit.reset();
    if (knob == Knob::sm_clock) at.sm_clock.reset();
    if (knob == Knob::memory_clock) at.memory_clock.reset();
  }
  return at;
}

std::string text_of(const KnobPoint& at) {
  std::string out;
  const auto add = [&](std::string_view name, const auto& value) {
    if (value) out += cat(out.empty() ? "" : ", ", name, " ", *value);
  };
  add("power limit", at.power_limit);
  add("SM", at.sm_clock);
  add("memory", at.memory_clock);
  return out.empty() ? "no knob set" : out;
}

KnobPoint highest_of(const SweepTable& table, std::string_view gpu) {
  KnobPoint highest;
  for (const SweepRow& row : table.rows) {
    if (row.gpu != gpu) continue;
    highest.power_limit = std::max(highest.power_limit, row.power_limit);
    highest.sm_clock = std::max(highest.sm_clock, row.sm_clock);
    highest.memory_clock = std::max(highest.memory_clock, row.memory_clock);
  }
  return highest;
}

/// An absent knob stands at its highest.
KnobPoint filled(KnobPoint at, const KnobPoint& highest) {
  if (!at.power_limit) at.power_limit = highest.power_limit;
  if (!at.sm_clock) at.sm_clock = highest.sm_clock;
  if (!at.memory_clock) at.memory_clock = highest.memory_clock;
  return at;
}

/// One table being turned into curves: every refusal can say where.
class Curves {
 public:
  Curves(const SweepTable& table, std::span<const Knob> knobs) : table_(table), knobs_(knobs) {}

  Result<std::vector<Curve>> make() {
    if (Status fine = knobs_vary(); !fine) return fail(fine.error());
    const auto workloads = workloads_of(table_);
    if (!workloads) return fail(workloads.error());
    for (const SweepWorkload& w : *workloads)
      if (Status fine = units_agree(w); !fine) return fail(fine.error());
    if (Status fine = knobs_agree(*workloads); !fine) return fail(fine.error());
    std::vector<Curve> curves;
    std::vector<std::size_t> defaults;
    for (const std::size_t i : workloads_distinct(table_, *workloads)) {
      auto curve = curve_of((*workloads)[i]);
      if (!curve) return fail(curve.error());
      curves.push_back(std::move(*curve));
      defaults.push_back((*workloads)[i].default_row);
    }
    if (Status fine = features_agree(curves, defaults); !fine) return fail(fine.error());
    add_derived(curves);
    return curves;
  }

 private:
  tl::unexpected<Error> bad(std::size_t row, std::string_view what, std::string hint = {}) const {
    return fail(ErrorCode::invalid_argument, cat(table_.place(row), what), std::move(hint));
  }

  Status knobs_vary() const {
    const std::string file = table_.origin.name.empty() ? "the sweep table" : table_.origin.name;
    if (table_.rows.empty()) return fail(ErrorCode::invalid_argument, cat(file, " has no rows"));
    if (knobs_.empty())
      return fail(ErrorCode::invalid_argument, cat("no knob was named for ", file),
                  "name one with --knobs power-limit, sm-clock or memory-clock");
    for (const Knob knob : knobs_) {
      if (knob == Knob::application_clocks)
        return fail(ErrorCode::invalid_argument, cat(file, ": sweep tables have no application clocks"),
                    "--knobs sm-clock,memory-clock");
      std::set<KnobPoint> values;
      for (const SweepRow& row : table_.rows) values.insert(only(point_of(row), {&knob, 1}));
      if (values.size() < 2)
        return fail(
            ErrorCode::invalid_argument,
            cat(file, ": no row varies the ", name_of(knob), ", all stand at ", text_of(*values.begin())),
            cat("leave ", name_of(knob), " out of --knobs"));
    }
    return {};
  }

  Status units_agree(const SweepWorkload& w) const {
    for (const std::size_t i : w.rows) {
      const SweepRow& row = table_.rows[i];
      const Joules product = row.time * row.power;
      if (row.energy > product * kLargestMismatch || product > row.energy * kLargestMismatch)
        return bad(i,
                   cat("energy_j is ", number(row.energy.value()), ", but time_s x power_w is ",
                       number(product.value()), ": are the units mixed?"),
                   "time in s, power in W, energy in J, for the same piece of work");
      if (row.power_limit && *row.power_limit > row.power * kLargestOverPower)
        return bad(i,
                   cat("power_limit_w is ", number(row.power_limit->value()), ", but ",
                       number(row.power.value()), " W were drawn: are the units mixed?"),
                   "limits and power in W");
    }
    const auto& rows = table_.rows;
    const std::string whose = cat(" of workload '", w.workload, "'");
    if (Status s =
            spans(w.rows, cat("time_s", whose), [&](std::size_t i) { return std::optional(rows[i].time); });
        !s)
      return s;
    return spans(w.rows, cat("energy_j", whose),
                 [&](std::size_t i) { return std::optional(rows[i].energy); });
  }

  /// Over all workloads of a GPU: one that was written down in GHz is another unit as a whole.
  Status knobs_agree(const std::vector<SweepWorkload>& workloads) const {
    std::map<std::string_view, std::vector<std::size_t>> rows_of;
    for (const SweepWorkload& w : workloads) {
      auto& of_gpu = rows_of[w.gpu];
      of_gpu.insert(of_gpu.end(), w.rows.begin(), w.rows.end());
    }
    const auto& rows = table_.rows;
    for (const auto& [gpu, of_gpu] : rows_of) {
      const auto column = [&gpu = gpu](std::string_view name) { return cat(name, " of '", gpu, "'"); };
      if (Status s =
              spans(of_gpu, column("power_limit_w"), [&](std::size_t i) { return rows[i].power_limit; });
          !s)
        return s;
      if (Status s = spans(of_gpu, column("sm_clock_mhz"), [&](std::size_t i) { return rows[i].sm_clock; });
          !s)
        return s;
      if (Status s =
              spans(of_gpu, column("memory_clock_mhz"), [&](std::size_t i) { return rows[i].memory_clock; });
          !s)
        return s;
    }
    return {};
  }

  template <class Value>
  Status spans(const std::vector<std::size_t>& rows, std::string_view column, Value value) const {
    std::optional<std::size_t> least;
    std::optional<std::size_t> most;
    for (const std::size_t i : rows) {
      if (!value(i)) continue;
      if (!least || *value(i) < *value(*least)) least = i;
      if (!most || *value(i) > *value(*most)) most = i;
    }
    if (!least || value(*most)->value() <= value(*least)->value() * kLargestSpan) return {};
    return bad(
        *least,
        cat(column, " is ", number(value(*least)->value()), " here and ", number(value(*most)->value()),
            " at another setting", in_line(*most), ": are the units mixed?"),
        "one unit in a column: s, W, J, MHz");
  }

  std::string in_line(std::size_t row) const {
    return row < table_.origin.lines.size() ? cat(" (line ", table_.origin.lines[row], ")") : std::string();
  }

  Result<Curve> curve_of(const SweepWorkload& w) const {
    Curve curve{.workload = w.workload, .group = w.group, .default_assumed = w.default_assumed};
    const SweepRow& base = table_.rows[w.default_row];
    const KnobPoint highest = highest_of(table_, w.gpu);
    curve.known = {.gpu = w.gpu, .highest = only(highest, knobs_), .features = base.features};
    const KnobPoint others = without(filled(point_of(base), highest), knobs_);
    for (const std::size_t i : w.rows) {
      const SweepRow& row = table_.rows[i];
      if (row.group != w.group)
        return bad(i, cat("workload '", w.workload, "' is in group '", row.group, "' here and in '", w.group,
                          "' above: what is left out together needs one group"));
      const KnobPoint elsewhere = without(filled(point_of(row), highest), knobs_);
      if (elsewhere != others)
        return bad(i,
                   cat("workload '", w.workload, "' is at ", text_of(elsewhere), " here, and at ",
                       text_of(others), " by default: a knob varies that was not named"),
                   "name it with --knobs too, or leave such rows out");
      add(curve.rows, {.at = only(point_of(row), knobs_), .time = row.time, .energy = row.energy});
    }
    if (curve.rows.size() < 2)
      return bad(w.rows.front(),
                 cat("workload '", w.workload, "' has one setting; it needs its default and another one"));
    const KnobPoint at_default = only(point_of(base), knobs_);
    curve.known.at_default = *std::find_if(curve.rows.begin(), curve.rows.end(),
                                           [&](const Observed& o) { return o.at == at_default; });
    return curve;
  }

  /// Repeats of a setting become their mean.
  static void add(std::vector<Observed>& rows, const Observed& one) {
    const auto same =
        std::find_if(rows.begin(), rows.end(), [&](const Observed& o) { return o.at == one.at; });
    if (same == rows.end()) {
      rows.push_back(one);
      return;
    }
    const double before = same->repeats++;
    same->time = (same->time * before + one.time) / (before + 1);
    same->energy = (same->energy * before + one.energy) / (before + 1);
  }

  /// A model learns from what every default has: a feature that only some have is a mistake of the table.
  /// The roofline's, where every workload's counters tell them.
  static void add_derived(std::vector<Curve>& curves) {
    std::map<std::string, std::size_t> told;
    std::vector<std::map<std::string, double>> derived;
    for (const Curve& curve : curves) {
      derived.push_back(roofline_features(curve.known.features));
      for (const auto& [name, value] : derived.back()) ++told[name];
    }
    for (std::size_t i = 0; i < curves.size(); ++i)
      for (const auto& [name, value] : derived[i])
        if (told[name] == curves.size()) curves[i].known.features.insert({name, value});
  }

  Status features_agree(const std::vector<Curve>& curves, const std::vector<std::size_t>& defaults) const {
    for (std::size_t i = 1; i < curves.size(); ++i)
      for (const auto& [one, other] : {std::pair{i, std::size_t{0}}, std::pair{std::size_t{0}, i}})
        for (const auto& [name, value] : curves[other].known.features)
          if (!curves[one].known.features.contains(name))
            return bad(defaults[one],
                       cat("feature_", name, " is empty at the default of workload '", curves[one].workload,
                           "', and that of '", curves[other].workload, "' has it", in_line(defaults[other])),
                       "fill the column for every workload's default, or take it out");
    return {};
  }

  const SweepTable& table_;
  std::span<const Knob> knobs_;
};

}  // namespace

std::optional<double> value_of(const KnobPoint& at, Knob knob) {
  const auto number_of = [](const auto& value) {
    return value ? std::optional<double>(value->value()) : std::nullopt;
  };
  switch (knob) {
    case Knob::power_limit:
      return number_of(at.power_limit);
    case Knob::sm_clock:
      return number_of(at.sm_clock);
    case Knob::memory_clock:
      return number_of(at.memory_clock);
    case Knob::application_clocks:
      break;
  }
  return std::nullopt;
}

KnobPoint only(const KnobPoint& at, std::span<const Knob> knobs) {
  KnobPoint out;
  for (const Knob knob : knobs) {
    if (knob == Knob::power_limit) out.power_limit = at.power_limit;
    if (knob == Knob::sm_clock) out.sm_clock = at.sm_clock;
    if (knob == Knob::memory_clock) out.memory_clock = at.memory_clock;
  }
  return out;
}

Result<std::vector<Curve>> curves_of(const SweepTable& table, std::span<const Knob> knobs) {
  return Curves(table, knobs).make();
}

}  // namespace rubato::predict
