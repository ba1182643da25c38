#include "experiment/sweep_summary.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "experiment/sweep_fit.h"
#include "experiment/sweep_unlike.h"

namespace rubato::experiment {
namespace {

enum Series { kTime, kEnergy, kEdp, kSeries };
using Logs = std::array<double, kSeries>;

constexpr double kIntervalProbability = 0.95;  // one side of 90 %
constexpr double kDriftProbability = 0.975;
constexpr std::size_t kControlsForDrift = 4;
constexpr double kEnoughDegrees = 3;

struct Run {
  const SweepMeasurement* measured;
  double position;  // in its session, in runs
  Logs logs;
};

std::vector<Run> runs_of(std::span<const SweepMeasurement> measured) {
  std::vector<Run> runs;
  std::map<unsigned, double> next;
  for (const auto& m : measured) {
    const double position = next[m.session]++;
    if (!m.used()) continue;
    const double time = std::log(m.time.value());
    const double energy = std::log(m.energy.value());
    runs.push_back({&m, position, {time, energy, time + energy}});
  }
  return runs;
}

struct Line {
  double mean_x = 0;
  double mean_y = 0;
  double slope = 0;
  bool beyond_scatter = false;
};

Line line_through(const std::vector<const Run*>& controls, Series series, TQuantile quantile) {
  Line line;
  const auto n = static_cast<double>(controls.size());
  for (const Run* run : controls) {
    line.mean_x += run->position / n;
    line.mean_y += run->logs[series] / n;
  }
  if (controls.size() < kControlsForDrift) return line;
  double xx = 0;
  double xy = 0;
  for (const Run* run : controls) {
    const double dx = run->position - line.mean_x;
    xx += dx * dx;
    xy += dx * (run->logs[series] - line.mean_y);
  }
  line.slope = xy / xx;
  double rest = 0;
  for (const Run* run : controls) {
    const double error = run->logs[series] - line.mean_y - line.slope * (run->position - line.mean_x);
    rest += error * error;
  }
  const double error = std::sqrt(rest / (n - 2) / xx);
  line.beyond_scatter = std::abs(line.slope) > quantile(kDriftProbability, n - 2) * error;
  return line;
}

/// Of each stretch that has a control, in order.
void find_drift(const std::vector<Run>& runs, SweepSummary& out, TQuantile quantile) {
  std::map<unsigned, std::vector<const Run*>> controls;
  std::map<unsigned, double> last;
  for (const Run& run : runs) {
    last[run.measured->session] = std::max(last[run.measured->session], run.position);
    if (run.measured->control()) controls[run.measured->session].push_back(&run);
  }
  for (const auto& [session, of_session] : controls) {
    BaselineDrift drift{.session = session, .controls = of_session.size()};
    if (of_session.size() >= kControlsForDrift) {
      const Line time = line_through(of_session, kTime, quantile);
      const Line energy = line_through(of_session, kEnergy, quantile);
      drift.time = std::expm1(time.slope * last[session]);
      drift.energy = std::expm1(energy.slope * last[session]);
      drift.time_taken_out = time.beyond_scatter;
      drift.energy_taken_out = energy.beyond_scatter;
    }
    out.drift.push_back(drift);
  }
}

/// Of one run's energy, relative, by its sensor's sampling alone.
double least_scatter(const std::vector<Run>& runs) {
  double band = 0;
  for (const Run& run : runs) band += run.measured->energy_band * run.measured->energy_band / 3;
  return std::sqrt(band / static_cast<double>(runs.size()));
}

/// Where figures stand that are shown without a quotient: the default in the mean over all stretches.
double mean_of_controls(const std::vector<Run>& runs, Series series) {
  double sum = 0;
  double count = 0;
  for (const Run& run : runs) {
    if (!run.measured->control()) continue;
    sum += run.logs[series];
    ++count;
  }
  return sum / count;
}

void add_once(std::vector<std::string>& list, const std::string& text) {
  if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
}

/// A stretch without a control of its own has nothing that ties it to the others.
std::vector<Run> comparable_runs(std::span<const SweepMeasurement> measured) {
  std::vector<Run> runs = runs_of(measured);
  const std::set<unsigned> tied = sessions_with_control(measured);
  std::erase_if(runs, [&tied](const Run& run) { return !tied.contains(run.measured->session); });
  return runs;
}

std::size_t stretches_of(std::span<const SweepMeasurement> measured) {
  std::set<unsigned> sessions;
  for (const auto& m : measured)
    if (!m.warmup) sessions.insert(m.session);
  return sessions.size();
}

/// Grid points in the order of their first measurement, after the default.
std::vector<predict::KnobPoint> points_of(std::span<const SweepMeasurement> measured) {
  std::vector<predict::KnobPoint> order{{}};
  for (const auto& m : measured)
    if (!m.warmup && std::find(order.begin(), order.end(), m.at) == order.end()) order.push_back(m.at);
  return order;
}

/// What is told of a setting whether or not its runs can be used.
SweptSetting described(std::span<const SweepMeasurement> measured, const predict::KnobPoint& at) {
  SweptSetting setting{.at = at};
  for (const auto& m : measured) {
    if (m.at != at || m.warmup) continue;
    setting.reached = m.reached;
    if (!m.used()) setting.not_used.push_back(m.not_used);
    for (const auto& note : m.notes) add_once(setting.notes, note);
    if (m.used() && !m.features.empty()) setting.features = m.features;
    if (m.used()) setting.boards = m.boards;
  }
  return setting;
}

/// The settings that are compared, and where each run of them lies in the fit.
struct Compared {
  std::vector<predict::KnobPoint> points;  // the default first
  std::vector<FitRun> runs;                // as in the list of runs, without values
};

Compared compared(const std::vector<Run>& runs, std::span<const SweepMeasurement> measured,
                  const std::vector<BaselineDrift>& stretches) {
  Compared out;
  for (const auto& at : points_of(measured))
    if (std::any_of(runs.begin(), runs.end(), [&at](const Run& run) { return run.measured->at == at; }))
      out.points.push_back(at);
  for (const Run& run : runs) {
    const auto stretch = std::find_if(stretches.begin(), stretches.end(), [&run](const BaselineDrift& s) {
      return s.session == run.measured->session;
    });
    const auto point = std::find(out.points.begin(), out.points.end(), run.measured->at);
    out.runs.push_back({.stretch = static_cast<std::size_t>(stretch - stretches.begin()),
                        .setting = static_cast<std::size_t>(point - out.points.begin()),
                        .position = run.position});
  }
  return out;
}

/// One quantity of all settings against one another.
struct Comparison {
  SweepFit fit;
  double scatter = 0;  // relative standard deviation of one run
  HalfWidths apart;

  [[nodiscard]] Quotient over_default(std::size_t setting) const {
    const double log = fit.effects[setting];
    Quotient quotient{std::exp(log), std::nullopt, std::nullopt};
    const auto half = apart.between(setting, 0);
    if (!half || setting == 0) return quotient;
    quotient.low = std::exp(log - *half);
    quotient.high = std::exp(log + *half);
    return quotient;
  }
};

Comparison compare(const std::vector<Run>& runs, Compared compared, Series series,
                   const std::vector<bool>& drifts, TQuantile quantile) {
  const std::size_t settings = compared.points.size();
  for (std::size_t i = 0; i < runs.size(); ++i) compared.runs[i].value = runs[i].logs[series];
  Comparison out{.fit = fit_sweep(compared.runs, settings, drifts)};
  const double degrees = out.fit.degrees;
  if (degrees <= 0) return out;
  out.scatter = std::sqrt(out.fit.squares / degrees);
  // Few runs may agree by chance: then the sampler's own band, taken as rectangular, is the least that energy
  // scatters.
  if (series != kTime && degrees < kEnoughDegrees) out.scatter = std::max(out.scatter, least_scatter(runs));
  out.apart.settings = settings;
  const double half = quantile(kIntervalProbability, degrees) * out.scatter;
  for (std::size_t a = 0; a < settings; ++a)
    for (std::size_t b = 0; b < settings; ++b)
      out.apart.all.push_back(half * std::sqrt(std::max(0.0, out.fit.variance_between(a, b))));
  return out;
}

}  // namespace

std::optional<double> HalfWidths::between(std::size_t a, std::size_t b) const {
  if (all.empty()) return std::nullopt;
  return all[a * settings + b];
}

std::set<unsigned> sessions_with_control(std::span<const SweepMeasurement> measured) {
  std::set<unsigned> out;
  for (const auto& m : measured)
    if (m.used() && m.control()) out.insert(m.session);
  return out;
}

Result<SweepSummary> summarise_sweep(std::span<const SweepMeasurement> all, TQuantile quantile) {
  std::vector<SweepMeasurement> sound(all.begin(), all.end());
  leave_out_unlike(sound);
  const std::span<const SweepMeasurement> measured(sound);
  SweepSummary out;
  const std::vector<Run> runs = comparable_runs(measured);
  if (runs.empty())
    return fail(ErrorCode::unavailable,
                "no run at the found setting can be used, so there is nothing to compare with",
                "the messages above say why");
  out.stretches = stretches_of(measured);
  find_drift(runs, out, quantile);
  for (const auto& m : measured) out.kind = std::max(out.kind, m.kind);

  const Compared fitted = compared(runs, measured, out.drift);
  std::vector<bool> time_drifts;
  std::vector<bool> energy_drifts;
  std::vector<bool> either_drifts;
  for (const auto& drift : out.drift) {
    time_drifts.push_back(drift.time_taken_out);
    energy_drifts.push_back(drift.energy_taken_out);
    either_drifts.push_back(drift.time_taken_out || drift.energy_taken_out);
  }
  Comparison time = compare(runs, fitted, kTime, time_drifts, quantile);
  Comparison energy = compare(runs, fitted, kEnergy, energy_drifts, quantile);
  Comparison edp = compare(runs, fitted, kEdp, either_drifts, quantile);
  // Where only one of the two drifts, three fits need not agree: the product is that of the two.
  for (std::size_t i = 0; i < fitted.points.size(); ++i)
    edp.fit.effects[i] = time.fit.effects[i] + energy.fit.effects[i];
  out.degrees = std::max(0.0, edp.fit.degrees);
  out.time_scatter = time.scatter;
  out.energy_scatter = energy.scatter;

  for (const auto& at : points_of(measured)) {
    SweptSetting setting = described(measured, at);
    const std::size_t i = out.settings.size();
    if (i == fitted.points.size() || fitted.points[i] != at) {
      if (setting.not_used.empty()) setting.not_used.emplace_back("no control run beside it can be used");
      out.lost.push_back(std::move(setting));
      continue;
    }
    setting.runs = static_cast<unsigned>(
        std::count_if(runs.begin(), runs.end(), [&at](const Run& run) { return run.measured->at == at; }));
    setting.time_over_default = time.over_default(i);
    setting.energy_over_default = energy.over_default(i);
    setting.edp_over_default = edp.over_default(i);
    setting.time = Seconds(std::exp(mean_of_controls(runs, kTime) + time.fit.effects[i]));
    setting.energy = Joules(std::exp(mean_of_controls(runs, kEnergy) + energy.fit.effects[i]));
    out.settings.push_back(std::move(setting));
  }
  out.time_apart = std::move(time.apart);
  out.energy_apart = std::move(energy.apart);
  out.edp_apart = std::move(edp.apart);
  return out;
}

}  // namespace rubato::experiment
