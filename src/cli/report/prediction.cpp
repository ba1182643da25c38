#include <algorithm>
#include <cmath>

#include "cli/report/model_report.h"
#include "experiment/sweep_grid.h"

namespace rubato::cli {
namespace {

using report::Amount;
using report::Array;
using report::Missing;
using report::Object;
using report::Value;

constexpr std::string_view kCombined = "rubato";

struct Band {
  double middle = 1;
  double low = 1;
  double high = 1;
};

Band band(double log_middle, double deviation) {
  return {std::exp(log_middle), std::exp(log_middle - predict::kHalfWidth90 * deviation),
          std::exp(log_middle + predict::kHalfWidth90 * deviation)};
}

struct Row {
  predict::KnobPoint at;
  Band time;    // over the default
  Band energy;  // the same
  Band edp;     // the same, of their product
  bool is_default = false;
  bool probed = false;
  const predict::Observed* measured = nullptr;
};

std::vector<Row> rows_of(const PredictionReport& r) {
  std::vector<Row> rows;
  const auto of_setting = [](const std::vector<predict::Observed>& from, const predict::KnobPoint& at) {
    for (const predict::Observed& one : from)
      if (one.at == at) return &one;
    return static_cast<const predict::Observed*>(nullptr);
  };
  // A default that locks nothing stands at the highest.
  const bool untouched = r.known.at_default.at == predict::KnobPoint{};
  for (std::size_t i = 0; i < r.predicted.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    const predict::KnobPoint& at = r.predicted.at[i];
    rows.push_back(
        {.at = at,
         .time = band(r.predicted.log_time[row], r.predicted.time_deviation(i)),
         .energy = band(r.predicted.log_energy[row], r.predicted.energy_deviation(i)),
         .edp = band(r.predicted.log_time[row] + r.predicted.log_energy[row], r.predicted.edp_deviation(i)),
         .is_default = at == r.known.at_default.at || (untouched && at == r.known.highest),
         .probed = of_setting(r.known.probes, at) != nullptr,
         .measured = of_setting(r.measured, at)});
    // A model may take the default for a noisy measurement too; what is called measured here is what was
    // measured.
    if (rows.back().is_default) rows.back().time = rows.back().energy = rows.back().edp = {};
  }
  return rows;
}

std::string_view kind_of(const Row& row) {
  if (row.is_default) return "measured";
  return row.probed ? "probed" : "predicted";
}

Object point_json(const predict::KnobPoint& at) {
  Object out;
  if (at.power_limit) out.set("power_limit_w", Amount{at.power_limit->value(), "W"});
  if (at.sm_clock) out.set("sm_clock_mhz", Amount{at.sm_clock->value(), "MHz"});
  if (at.memory_clock) out.set("memory_clock_mhz", Amount{at.memory_clock->value(), "MHz"});
  return out;
}

void set_measured(Object& out, const predict::Observed& one) {
  out.set("time_s", Amount{one.time.value(), "s"});
  out.set("power_w", Amount{one.power().value(), "W"});
  out.set("energy_j", Amount{one.energy.value(), "J"});
}

std::string range(double low, double high, int digits) {
  return cat(fixed(low, digits), "–", fixed(high, digits));
}

std::string over_default(const Band& band) {
  return cat(percent(band.middle - 1), ", 90 % ", percent(band.low - 1), " to ", percent(band.high - 1));
}

/// The settings of least energy, and of least energy times time, by what is predicted: without a bound.
void say_least(Page& page, const std::vector<Row>& rows) {
  if (rows.empty()) return;
  const auto least = [&rows](Band Row::*what) -> const Row& {
    return *std::min_element(rows.begin(), rows.end(), [what](const Row& a, const Row& b) {
      return (a.*what).middle < (b.*what).middle;
    });
  };
  const Row& energy = least(&Row::energy);
  const Row& edp = least(&Row::edp);
  page.say(cat("Least energy: ", experiment::describe(energy.at), " (", over_default(energy.energy),
               "). Least energy times time (EDP): ", experiment::describe(edp.at), " (",
               over_default(edp.edp), "). Both against the default, without a bound on time."));
}

/// So many digits that the default has four that count.
int digits_for(double value) {
  return std::clamp(3 - static_cast<int>(std::floor(std::log10(value))), 0, 9);
}

}  // namespace

std::vector<std::string> missing_counters(const PredictionReport& r) {
  std::vector<std::string> out;
  // Of the other learners none goes on without: they refuse, or look at no counter.
  if (r.model->learner != kCombined) return out;
  for (const std::string& name : r.model->features)
    // Rooflines are worked out of the others.
    if (!name.starts_with("roofline_") && !r.known.features.contains(name)) out.push_back(name);
  return out;
}

Object prediction_json(const PredictionReport& r) {
  Array missing;
  for (std::string& name : missing_counters(r)) missing.emplace_back(std::move(name));
  const predict::Observed& base = r.known.at_default;
  Array settings;
  for (const Row& row : rows_of(r)) {
    Object one = point_json(row.at);
    one.set("kind", row.is_default ? "measured" : "predicted");
    one.set("probed", row.probed);
    const auto put = [&](const std::string& name, const std::string& unit, const Band& over,
                         double at_default) {
      one.set(cat(name, "_", unit), Amount{over.middle * at_default, unit});
      one.set(cat(name, "_low_", unit), Amount{over.low * at_default, unit});
      one.set(cat(name, "_high_", unit), Amount{over.high * at_default, unit});
      one.set(cat(name, "_over_default"), Amount{over.middle, ""});
    };
    put("time", "s", row.time, base.time.value());
    put("energy", "j", row.energy, base.energy.value());
    put("edp", "js", row.edp, base.energy.value() * base.time.value());
    if (row.measured != nullptr) {
      Object measured;
      set_measured(measured, *row.measured);
      one.set("measured", std::move(measured));
    }
    settings.emplace_back(std::move(one));
  }
  Object at_default = point_json(base.at);
  set_measured(at_default, base);
  Array probes;
  for (const predict::Observed& probe : r.known.probes) {
    Object one = point_json(probe.at);
    set_measured(one, probe);
    probes.emplace_back(std::move(one));
  }
  return {{"schema", "rubato.prediction/1"},
          {"model", r.path},
          {"learner", r.model->learner},
          {"gpu", r.known.gpu},
          {"workload", r.workload.empty() ? Value(Missing{"its default was typed"}) : Value(r.workload)},
          {"interval", Amount{0.9, ""}},
          {"counters_missing", std::move(missing)},
          {"default", std::move(at_default)},
          {"probes", std::move(probes)},
          {"settings", std::move(settings)}};
}

void say_prediction(Page& page, const PredictionReport& r) {
  const predict::Observed& base = r.known.at_default;
  page.heading(cat(r.workload.empty() ? std::string("Predicted") : r.workload, " on ", r.known.gpu));
  page.say(cat(
      "By ", r.path, " (", r.model->learner, "), from ", text_of(base.time), " and ", text_of(base.power()),
      " at the default setting",
      r.known.probes.empty()
          ? std::string()
          : cat(" and ", r.known.probes.size(), r.known.probes.size() == 1 ? " probe" : " probes"),
      ". Times and energies are per unit of the work that was measured; the intervals hold the true value 9 "
      "times in 10."));
  page.gap();
  const bool compared = !r.measured.empty();
  const double t = base.time.value();
  const std::string unit = base.energy.value() < 1e4 ? "J" : "kJ";
  const double joules = unit == "J" ? 1.0 : 1e3;
  const double e = base.energy.value() / joules;
  // What is cut on a narrow screen comes last.
  std::vector<Table::Column> columns = {
      {"setting"},    {"kind"},         {"time, s", true}, {"90 %", true}, {"energy, " + unit, true},
      {"90 %", true}, {"slower", true}, {"saves", true}};
  if (compared) {
    columns.push_back({"table: s", true});
    columns.push_back({unit, true});
  }
  Table table(columns);
  const int s_digits = digits_for(t);
  const int j_digits = digits_for(e);
  for (const Row& row : rows_of(r)) {
    std::vector<std::string> cells = {
        experiment::describe(row.at),           std::string(kind_of(row)),
        fixed(row.time.middle * t, s_digits),   range(row.time.low * t, row.time.high * t, s_digits),
        fixed(row.energy.middle * e, j_digits), range(row.energy.low * e, row.energy.high * e, j_digits),
        percent(row.time.middle - 1),           percent(1 - row.energy.middle)};
    if (compared) {
      const bool known = row.measured != nullptr;
      cells.push_back(known ? fixed(row.measured->time.value(), s_digits) : "-");
      cells.push_back(known ? fixed(row.measured->energy.value() / joules, j_digits) : "-");
    }
    table.add(std::move(cells));
  }
  page.table(table);
  page.gap();
  say_least(page, rows_of(r));
  if (const auto missing = missing_counters(r); !missing.empty()) {
    page.gap();
    std::string names;
    for (const std::string& name : missing) names += cat(names.empty() ? "" : ", ", name);
    page.say(cat("The model learned with counters that are not known here: ", names,
                 ". What needs them was left out, so this may be farther off than its validation says; "
                 "--feature NAME=VALUE gives them."));
  }
}

}  // namespace rubato::cli
