#include "experiment/sweep_summary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

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

/// Brings every run to where the baseline was in the mean; returns how many degrees of freedom that has cost.
double take_drift_out(std::vector<Run>& runs, SweepSummary& out, TQuantile quantile) {
  std::map<unsigned, std::vector<const Run*>> controls;
  std::map<unsigned, double> last;
  Logs everywhere{};
  double count = 0;
  for (const Run& run : runs) {
    last[run.measured->session] = std::max(last[run.measured->session], run.position);
    if (!run.measured->control()) continue;
    controls[run.measured->session].push_back(&run);
    for (int s = 0; s < kEdp; ++s)
      everywhere[static_cast<std::size_t>(s)] += run.logs[static_cast<std::size_t>(s)];
    ++count;
  }
  double cost = 0;
  std::vector<std::pair<Run*, Logs>> shifts;
  for (const auto& [session, of_session] : controls) {
    const Line time = line_through(of_session, kTime, quantile);
    const Line energy = line_through(of_session, kEnergy, quantile);
    BaselineDrift drift{.session = session, .controls = of_session.size()};
    if (of_session.size() >= kControlsForDrift) {
      drift.time = std::expm1(time.slope * last[session]);
      drift.energy = std::expm1(energy.slope * last[session]);
      drift.time_taken_out = time.beyond_scatter;
      drift.energy_taken_out = energy.beyond_scatter;
    }
    cost += time.beyond_scatter || energy.beyond_scatter ? 1 : 0;
    out.drift.push_back(drift);
    for (Run& run : runs) {
      if (run.measured->session != session) continue;
      const auto shift = [&run, count](const Line& line, double all) {
        const double slope = line.beyond_scatter ? line.slope : 0.0;
        return line.mean_y - all / count + slope * (run.position - line.mean_x);
      };
      const double t = shift(time, everywhere[kTime]);
      const double e = shift(energy, everywhere[kEnergy]);
      shifts.push_back({&run, {t, e, t + e}});
    }
  }
  for (auto& [run, shift] : shifts)
    for (std::size_t s = 0; s < kSeries; ++s) run->logs[s] -= shift[s];
  out.sessions = std::max<std::size_t>(1, controls.size());
  return cost + static_cast<double>(out.sessions - 1);
}

struct Group {
  std::vector<const Run*> runs;
  [[nodiscard]] double count() const { return static_cast<double>(runs.size()); }
  [[nodiscard]] double mean(Series s) const {
    double sum = 0;
    for (const Run* run : runs) sum += run->logs[s];
    return sum / count();
  }
};

std::array<double, kSeries> scatter_of(const std::map<predict::KnobPoint, Group>& groups, double degrees) {
  std::array<double, kSeries> out{};
  double band = 0;
  double runs = 0;
  for (const auto& [at, group] : groups) {
    for (const Run* run : group.runs) {
      for (std::size_t s = 0; s < kSeries; ++s) {
        const double rest = run->logs[s] - group.mean(static_cast<Series>(s));
        out[s] += rest * rest;
      }
      band += run->measured->energy_band * run->measured->energy_band / 3;
      ++runs;
    }
  }
  for (double& s : out) s = std::sqrt(s / degrees);
  // Few runs may agree by chance: then the sampler's own band, taken as rectangular, is the least that energy
  // scatters.
  if (degrees >= kEnoughDegrees) return out;
  const double least = std::sqrt(band / runs);
  out[kEnergy] = std::max(out[kEnergy], least);
  out[kEdp] = std::max(out[kEdp], least);
  return out;
}

void add_once(std::vector<std::string>& list, const std::string& text) {
  if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
}

/// A session without a control of its own has nothing that ties it to the others.
std::vector<Run> comparable_runs(std::span<const SweepMeasurement> measured) {
  std::vector<Run> runs = runs_of(measured);
  std::set<unsigned> tied;
  for (const Run& run : runs)
    if (run.measured->control()) tied.insert(run.measured->session);
  std::erase_if(runs, [&tied](const Run& run) { return !tied.contains(run.measured->session); });
  return runs;
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
  }
  return setting;
}

/// How sure the quotient of two groups' means is.
struct Comparison {
  std::array<double, kSeries> scatter{};
  double degrees = 0;
  TQuantile quantile = nullptr;

  [[nodiscard]] Quotient over(const Group& group, const Group& reference, Series s) const {
    const double log = group.mean(s) - reference.mean(s);
    Quotient quotient{std::exp(log), std::nullopt, std::nullopt};
    if (degrees <= 0 || &group == &reference) return quotient;
    const double half = quantile(kIntervalProbability, degrees) * scatter[s] *
                        std::sqrt(1 / group.count() + 1 / reference.count());
    quotient.low = std::exp(log - half);
    quotient.high = std::exp(log + half);
    return quotient;
  }
};

}  // namespace

Result<SweepSummary> summarise_sweep(std::span<const SweepMeasurement> measured, TQuantile quantile) {
  SweepSummary out;
  std::vector<Run> runs = comparable_runs(measured);
  if (runs.empty())
    return fail(ErrorCode::unavailable,
                "no run at the found setting can be used, so there is nothing to compare with",
                "the messages above say why");
  const double cost = take_drift_out(runs, out, quantile);
  std::map<predict::KnobPoint, Group> groups;
  for (const Run& run : runs) groups[run.measured->at].runs.push_back(&run);
  for (const auto& m : measured) out.kind = std::max(out.kind, m.kind);

  Comparison comparison{.quantile = quantile};
  const double degrees = static_cast<double>(runs.size()) - static_cast<double>(groups.size()) - cost;
  if (degrees > 0) {
    comparison.scatter = scatter_of(groups, degrees);
    comparison.degrees = out.degrees = degrees;
    out.time_scatter = comparison.scatter[kTime];
    out.energy_scatter = comparison.scatter[kEnergy];
  }
  const Group& reference = groups.at({});
  for (const auto& at : points_of(measured)) {
    SweptSetting setting = described(measured, at);
    const auto found = groups.find(at);
    if (found == groups.end()) {
      if (setting.not_used.empty()) setting.not_used.emplace_back("no control run beside it can be used");
      out.lost.push_back(std::move(setting));
      continue;
    }
    const Group& group = found->second;
    setting.runs = static_cast<unsigned>(group.runs.size());
    setting.time = Seconds(std::exp(group.mean(kTime)));
    setting.energy = Joules(std::exp(group.mean(kEnergy)));
    setting.time_over_default = comparison.over(group, reference, kTime);
    setting.energy_over_default = comparison.over(group, reference, kEnergy);
    setting.edp_over_default = comparison.over(group, reference, kEdp);
    out.settings.push_back(std::move(setting));
  }
  return out;
}

}  // namespace rubato::experiment
