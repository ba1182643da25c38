#include "measure/update_period.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

namespace rubato::measure {
namespace {

constexpr std::size_t kFewestChanges = 8;
// Reads per refresh below which a refresh cannot be placed well enough.
constexpr double kReadsPerRefresh = 2.5;
// Refreshes come this regularly, as a fraction of the period; boards were seen within 2 %.
constexpr double kJitter = 0.05;
// Most refreshes must be seen; where fewer are, a multiple of the period may fit as well.
constexpr double kNextToEachOther = 0.7;
// How far the period may be off for want of resolution.
constexpr double kTolerance = 0.03;
// The chance that moments without any rhythm pass.
constexpr double kChance = 1e-4;
// A typical change must be this many of the sensor's own steps: a drift of one step may skip refreshes.
constexpr double kSteps = 10;
constexpr double kNewValues = 0.8;

struct Change {
  double at_s;    // middle between the reads around it
  double half_s;  // half the way between them
};

std::vector<Change> changes_of(std::span<const SeenValue> values) {
  std::vector<Change> changes;
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (values[i].value == values[i - 1].value) continue;
    const double half = 0.5 * (values[i].at - values[i - 1].at).value();
    changes.push_back({(values[i].at - values.front().at).value() - half, half});
  }
  return changes;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

struct Line {
  double period;
  double phase;
};

// Least squares of the changes' moments over their numbers.
Line fit(const std::vector<Change>& changes, const std::vector<double>& numbers) {
  const auto n = static_cast<double>(changes.size());
  double sum_k = 0;
  double sum_t = 0;
  double sum_kk = 0;
  double sum_kt = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    sum_k += numbers[i];
    sum_t += changes[i].at_s;
    sum_kk += numbers[i] * numbers[i];
    sum_kt += numbers[i] * changes[i].at_s;
  }
  const double period = (n * sum_kt - sum_k * sum_t) / (n * sum_kk - sum_k * sum_k);
  return {period, (sum_t - period * sum_k) / n};
}

}  // namespace

bool every_refresh_shows(std::span<const SeenValue> values) {
  std::vector<double> seen;
  std::vector<double> steps;
  std::int64_t grain = 0;  // what all values are multiples of: some sensors count in tenths of a watt
  for (std::size_t i = 0; i < values.size(); ++i) {
    grain = std::gcd(grain, std::llround(values[i].value));
    if (i == 0 || values[i].value == values[i - 1].value) continue;
    seen.push_back(values[i].value);
    steps.push_back(std::abs(values[i].value - values[i - 1].value));
  }
  if (seen.size() < kFewestChanges) return false;
  const auto all = static_cast<double>(seen.size());
  std::sort(seen.begin(), seen.end());
  const auto different = static_cast<double>(std::unique(seen.begin(), seen.end()) - seen.begin());
  return different >= kNewValues * all && median(steps) >= kSteps * static_cast<double>(grain);
}

std::optional<UpdatePeriod> find_update_period(std::span<const SeenValue> values) {
  const std::vector<Change> changes = changes_of(values);
  if (changes.size() < kFewestChanges || !every_refresh_shows(values)) return std::nullopt;
  std::vector<double> apart;
  std::vector<double> halves;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    halves.push_back(changes[i].half_s);
    if (i > 0) apart.push_back(changes[i].at_s - changes[i - 1].at_s);
  }
  const double half = median(halves);
  Line line{median(apart), changes.front().at_s};
  if (line.period < kReadsPerRefresh * 2 * half) return std::nullopt;

  // Number the refreshes, first from one to the next, then by the line through all of them.
  std::vector<double> numbers{0};
  for (const double step : apart)
    numbers.push_back(numbers.back() + std::max(1.0, std::round(step / line.period)));
  line = fit(changes, numbers);
  for (std::size_t i = 0; i < changes.size(); ++i)
    numbers[i] = std::round((changes[i].at_s - line.phase) / line.period);
  line = fit(changes, numbers);
  if (!(line.period > 0)) return std::nullopt;

  double by_chance = 1;
  double neighbours = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const double allowed = changes[i].half_s + kJitter * line.period;
    if (std::abs(changes[i].at_s - line.phase - numbers[i] * line.period) > allowed) return std::nullopt;
    by_chance *= std::min(1.0, 2 * allowed / line.period);
    if (i == 0) continue;
    if (numbers[i] <= numbers[i - 1]) return std::nullopt;
    if (numbers[i] == numbers[i - 1] + 1) ++neighbours;
  }
  const double span = changes.back().at_s - changes.front().at_s;
  if (by_chance > kChance || 2 * half > kTolerance * span ||
      neighbours < kNextToEachOther * static_cast<double>(apart.size()))
    return std::nullopt;
  return UpdatePeriod{Seconds(line.period), changes.size()};
}

}  // namespace rubato::measure
