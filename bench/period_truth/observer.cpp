#include "period_truth/observer.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace rubato::period_truth {
namespace {

constexpr double kMostPhases = 128;  // of an iteration
constexpr double kSlow = 2;          // of the longer period: what changes slower is no shape

/// A reading of a new value, in iterations since the first mark.
struct Placed {
  double iterations = 0;
  double watts = 0;
};

struct Read {
  double at_s = 0;
  double watts = 0;
};

/// What the sensor brought, less the moving average over `width_s`.
std::vector<Read> updates_of(const Trace& trace, double width_s) {
  std::vector<Read> out;
  for (const auto& point : trace.points) {
    if (!point.power) continue;
    const Read here{point.at.since_epoch().value(), point.power->value()};
    const bool held = !out.empty() && here.watts == out.back().watts &&
                      here.at_s - out.back().at_s < 0.95 * trace.sensor.update_s;
    if (!held) out.push_back(here);
  }
  std::vector<double> sums(out.size() + 1, 0.0);
  for (std::size_t i = 0; i < out.size(); ++i) sums[i + 1] = sums[i] + out[i].watts;
  std::vector<double> slow(out.size());
  std::size_t from = 0;
  std::size_t to = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    while (out[from].at_s < out[i].at_s - width_s / 2) ++from;
    while (to < out.size() && out[to].at_s <= out[i].at_s + width_s / 2) ++to;
    slow[i] = (sums[to] - sums[from]) / static_cast<double>(to - from);
  }
  for (std::size_t i = 0; i < out.size(); ++i) out[i].watts -= slow[i];
  return out;
}

std::vector<Placed> placed(const Trace& trace, const std::vector<Read>& updates) {
  std::vector<Placed> out;
  auto it = updates.begin();
  double iteration = 0;
  for (const Step& step : trace.truth.marks) {
    while (it != updates.end() && it->at_s < step.begin_s) ++it;
    for (; it != updates.end() && it->at_s < step.end_s; ++it)
      if (step.lost_s <= 0)
        out.push_back({iteration + (it->at_s - step.begin_s) / (step.end_s - step.begin_s), it->watts});
    iteration += 1;
  }
  return out;
}

struct Sum {
  double watts = 0;
  double squares = 0;
  double count = 0;
  void add(double x) {
    watts += x;
    squares += x * x;
    count += 1;
  }
};

/// Phases of a period of so many iterations, told apart as finely as one iteration's.
class Phases {
 public:
  Phases(double iterations, double per_iteration)
      : iterations_(iterations),
        count_(static_cast<std::size_t>(std::max(1.0, std::round(iterations * per_iteration)))) {}
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::size_t of(const Placed& reading) const {
    const double turns = reading.iterations / iterations_;
    const double phase = (turns - std::floor(turns)) * static_cast<double>(count_);
    return std::min(count_ - 1, static_cast<std::size_t>(phase));
  }

 private:
  double iterations_;
  std::size_t count_;
};

double log_normal_density(double off, double variance) {
  return -0.5 * (off * off / variance + std::log(2 * std::numbers::pi * variance));
}

/// Of all readings, each foretold by those of other blocks at its phase; the mean of a phase is beforehand as
/// uncertain as the load varies.
double log_likelihood(const std::vector<Placed>& readings, const Phases& phases, double block, double noise,
                      double load) {
  std::vector<Sum> all(phases.count());
  for (const Placed& r : readings) all[phases.of(r)].add(r.watts);
  double sum = 0;
  std::vector<Sum> own(phases.count());
  for (std::size_t from = 0; from < readings.size();) {
    const double number = std::floor(readings[from].iterations / block);
    std::size_t to = from;
    for (; to < readings.size() && std::floor(readings[to].iterations / block) == number; ++to)
      own[phases.of(readings[to])].add(readings[to].watts);
    for (std::size_t i = from; i < to; ++i) {
      const std::size_t phase = phases.of(readings[i]);
      const double known = (all[phase].count - own[phase].count) / noise + 1 / load;
      const double mean = (all[phase].watts - own[phase].watts) / noise / known;
      sum += log_normal_density(readings[i].watts - mean, noise + 1 / known);
    }
    for (std::size_t i = from; i < to; ++i) own[phases.of(readings[i])] = {};
    from = to;
  }
  return sum;
}

/// Mean square of what the means of the phases leave.
double left_by(const std::vector<Placed>& readings, const Phases& phases) {
  std::vector<Sum> all(phases.count());
  for (const Placed& r : readings) all[phases.of(r)].add(r.watts);
  double left = 0;
  double freedom = 0;
  for (const Sum& s : all) {
    if (s.count < 2) continue;
    left += s.squares - s.watts * s.watts / s.count;
    freedom += s.count - 1;
  }
  return freedom > 0 ? std::max(0.0, left) / freedom : 0;
}

}  // namespace

double log_likelihood_ratio(const Trace& trace, std::optional<double> stated_s) {
  if (!trace.truth.median_s) return 0;
  const double true_s = *trace.truth.median_s;
  const double longer_s = std::max(true_s, stated_s.value_or(0));
  const auto readings = placed(trace, updates_of(trace, kSlow * longer_s));
  if (readings.empty()) return 0;
  const double seen_s = std::max(trace.sensor.update_s, trace.truth.reading_s);
  const double per_iteration = std::clamp(std::floor(true_s / seen_s), 1.0, kMostPhases);
  const Phases by_truth(1, per_iteration);
  double squares = 0;
  for (const Placed& r : readings) squares += r.watts * r.watts;
  squares /= static_cast<double>(readings.size());
  const double of_sensor =
      trace.sensor.noise_w * trace.sensor.noise_w + trace.sensor.grain_w * trace.sensor.grain_w / 12;
  const double noise = std::max(of_sensor, left_by(readings, by_truth));
  const double load = std::max(squares - noise, 0.01 * noise);
  // Both are asked about the same blocks: whole periods of the longer one.
  const double block = std::ceil(longer_s / true_s);
  const double with_truth = log_likelihood(readings, by_truth, block, noise, load);
  if (stated_s)
    return with_truth -
           log_likelihood(readings, Phases(*stated_s / true_s, per_iteration), block, noise, load);
  double without = 0;
  for (const Placed& r : readings) without += log_normal_density(r.watts, noise + load);
  return with_truth - without;
}

}  // namespace rubato::period_truth
