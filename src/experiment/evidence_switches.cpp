#include "experiment/evidence_switches.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace rubato::experiment {
namespace {

constexpr double kThere = 0.9;
constexpr std::size_t kInARow = 3;
// A step is believed where it is this many times the scatter around its two levels.
constexpr double kStandsOut = 4;
// Levels are taken over the last part of a hold: what comes before is the change itself.
constexpr double kSettled = 1.0 / 3;
constexpr Seconds kBefore{1};
constexpr std::size_t kFewest = 5;  // values for a level

struct Value {
  TimePoint at;
  double value = 0;
};

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

struct Level {
  double value = 0;
  double scatter = 0;  // standard deviation, from the median of absolute deviations
};

std::optional<Level> level_of(const std::vector<Value>& values, TimePoint begin, TimePoint end) {
  std::vector<double> inside;
  for (const Value& v : values)
    if (v.at >= begin && v.at <= end) inside.push_back(v.value);
  if (inside.size() < kFewest) return std::nullopt;
  Level out{median_of(inside), 0};
  for (double& v : inside) v = std::abs(v - out.value);
  out.scatter = 1.4826 * median_of(std::move(inside));  // of a normal distribution
  return out;
}

std::optional<Seconds> reached(const std::vector<Value>& values, const Switch& change) {
  const auto before = level_of(values, change.asked - kBefore, change.asked);
  const auto after = level_of(values, change.until - (change.until - change.asked) * kSettled, change.until);
  if (!before || !after) return std::nullopt;
  const double step = after->value - before->value;
  const double scatter = std::hypot(before->scatter, after->scatter);
  // A quantity that stands perfectly still still has to move by a hundredth.
  if (std::abs(step) <= std::max(kStandsOut * scatter, std::abs(before->value) * 0.01)) return std::nullopt;
  std::size_t row = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].at <= change.asked || values[i].at > change.until) continue;
    const bool there = (values[i].value - before->value) / step >= kThere;
    row = there ? row + 1 : 0;
    if (row == kInARow) return values[i + 1 - kInARow].at - change.asked;
  }
  return std::nullopt;
}

template <class Unit>
std::vector<Value> values_of(std::span<const Glance> glances, std::optional<Unit> Glance::*what) {
  std::vector<Value> out;
  for (const Glance& g : glances)
    if (g.*what) out.push_back({g.at, (g.*what)->value()});
  return out;
}

predict::KnobPoint point_of(const Setting& setting) {
  predict::KnobPoint out;
  out.power_limit = setting.power_limit;
  if (setting.sm_clock) out.sm_clock = setting.sm_clock->max;
  if (setting.memory_clock) out.memory_clock = setting.memory_clock->max;
  return out;
}

}  // namespace

std::vector<Switch> switches_of(const record::RunRecord& run, Seconds hold) {
  std::vector<Switch> out;
  predict::KnobPoint in_force;
  for (const record::SettingChange& change : run.setting_changes) {
    if (change.who != "rubato" || (change.outcome != "applied" && change.outcome != "restored")) continue;
    const predict::KnobPoint to = point_of(change.asked);
    if (!out.empty()) out.back().until = std::min(out.back().until, change.at);
    out.push_back({change.at, change.at + hold, to, in_force});
    in_force = to;
  }
  return out;
}

SwitchTimes times_of(const Switch& change, std::span<const Glance> glances) {
  SwitchTimes out{change, std::nullopt, std::nullopt, std::nullopt};
  const auto begin = std::lower_bound(glances.begin(), glances.end(), change.asked - kBefore,
                                      [](const Glance& g, TimePoint t) { return g.at < t; });
  const auto end = std::upper_bound(begin, glances.end(), change.until,
                                    [](TimePoint t, const Glance& g) { return t < g.at; });
  const std::span<const Glance> near(begin, end);
  if (change.to.power_limit || change.from.power_limit)
    out.read_back = reached(values_of(near, &Glance::requested_limit), change);
  out.clock = reached(values_of(near, &Glance::sm_clock), change);
  out.power = reached(values_of(near, &Glance::power), change);
  return out;
}

std::optional<TimesSummary> summary_of(const std::vector<Seconds>& times) {
  if (times.empty()) return std::nullopt;
  std::vector<double> each;
  each.reserve(times.size());
  for (const Seconds t : times) each.push_back(t.value());
  const auto n = static_cast<double>(each.size());
  const double mean = std::accumulate(each.begin(), each.end(), 0.0) / n;
  double squares = 0;
  for (const double t : each) squares += (t - mean) * (t - mean);
  const auto [least, most] = std::minmax_element(each.begin(), each.end());
  TimesSummary out{each.size(), Seconds(*least), {}, Seconds(mean), Seconds(*most), std::nullopt};
  if (each.size() > 1) out.deviation = Seconds(std::sqrt(squares / (n - 1)));
  out.median = Seconds(median_of(std::move(each)));
  return out;
}

std::optional<Seconds> resolution_of(std::span<const Glance> glances) {
  if (glances.size() < 2) return std::nullopt;
  std::vector<double> gaps;
  for (std::size_t i = 1; i < glances.size(); ++i)
    gaps.push_back((glances[i].at - glances[i - 1].at).value());
  return Seconds(median_of(std::move(gaps)));
}

}  // namespace rubato::experiment
