#include "govern/rubato/stretch_meter.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

namespace rubato::govern {
namespace {

// Of the cells at either end, left out of a mean: a stall or a stray reading is no part of what a setting
// costs.
constexpr double kTrimmed = 0.1;
constexpr std::size_t kFewestForScatter = 4;
// A jump is looked for between these parts of a stretch.
constexpr std::size_t kParts = 6;
constexpr double kErrors = 5;
constexpr double kMedian = 1.2533;  // standard error of a normal sample's median, over that of its mean

struct Robust {
  double mean = 0;
  std::optional<double> scatter;  // relative variance of a cell
};

/// Trimmed mean, with the variance of the winsorised values (Tukey and McLaughlin 1963).
Robust robust(std::span<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  const auto cut = static_cast<std::size_t>(std::lround(kTrimmed * static_cast<double>(n)));
  const auto inner = values.subspan(cut, n - 2 * cut);
  Robust out;
  for (const double v : inner) out.mean += v;
  out.mean /= static_cast<double>(inner.size());
  if (n < kFewestForScatter || !(out.mean > 0)) return out;
  double squares = 0;
  double mean = 0;
  for (const double v : values) mean += std::clamp(v, inner.front(), inner.back());
  mean /= static_cast<double>(n);
  for (const double v : values) {
    const double x = std::clamp(v, inner.front(), inner.back()) - mean;
    squares += x * x;
  }
  const double kept = static_cast<double>(inner.size()) / static_cast<double>(n);
  out.scatter = squares / static_cast<double>(n - 1) / (kept * kept) / (out.mean * out.mean);
  return out;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

struct Jump {
  std::size_t at = 0;
  double size = 0;  // over the least that counts
};

/// Between what lies before some moment and what lies after it: over `least` (relative) and what their noise
/// makes of them. Medians, and the noise of one value from how unlike neighbours are: a stall
/// moves neither, and a jump parts one pair of neighbours only (after von Neumann 1941).
Jump largest_jump(std::span<const double> values, double least) {
  Jump out;
  const std::size_t n = values.size();
  if (n < 2 * kFewestForScatter) return out;
  std::vector<double> steps;
  for (std::size_t i = 1; i < n; ++i) steps.push_back(std::abs(values[i] - values[i - 1]));
  const double noise = median(std::move(steps)) / (0.6745 * std::sqrt(2.0));
  const double level = median({values.begin(), values.end()});
  if (!(level > 0)) return out;
  for (std::size_t part = 1; part < kParts; ++part) {
    const std::size_t before = n * part / kParts;
    if (before < kFewestForScatter || n - before < kFewestForScatter) continue;
    const double apart = median({values.begin() + static_cast<std::ptrdiff_t>(before), values.end()}) -
                         median({values.begin(), values.begin() + static_cast<std::ptrdiff_t>(before)});
    const double weight = 1.0 / static_cast<double>(before) + 1.0 / static_cast<double>(n - before);
    const double size =
        std::abs(apart) / level / (least + kErrors * kMedian * noise / level * std::sqrt(weight));
    if (size > out.size) out = {before, size};
  }
  return out;
}

}  // namespace

void StretchMeter::begin(const Tally& tally) {
  first_ = last_ = cell_ = tally;
  least_ = 0;
  count_ = 0;
}

void StretchMeter::add(const Tally& tally) {
  if (!(tally.work > last_.work)) return;
  last_ = tally;
  const double work = tally.work - cell_.work;
  if (work < least_ || !tally.energy || !cell_.energy) return;
  if (count_ == kCells) {
    for (std::size_t i = 0; i < kCells / 2; ++i) {
      const Cell& a = cells_[2 * i];
      const Cell& b = cells_[2 * i + 1];
      cells_[i] = {a.work + b.work, a.seconds + b.seconds, a.joules + b.joules};
    }
    count_ = kCells / 2;
    least_ = cells_[0].work;
    if (work < least_ * 0.999) return;
  }
  const Cost cost = cost_between(cell_, tally);
  cells_[count_++] = {work, cost.time.value() * work, cost.energy->value() * work};
  cell_ = tally;
}

std::optional<StretchMean> StretchMeter::mean() const {
  return mean_of(0, count_);
}

std::optional<StretchMean> StretchMeter::mean_of(std::size_t begin, std::size_t end) const {
  if (begin == end) return std::nullopt;
  const std::size_t count = end - begin;
  std::array<double, kCells> times{};
  std::array<double, kCells> powers{};
  double work = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Cell& c = cells_[begin + i];
    if (!(c.seconds > 0) || !(c.joules > 0)) return std::nullopt;
    times[i] = c.seconds / c.work;
    powers[i] = c.joules / c.seconds;
    work += c.work;
  }
  const Robust time = robust(std::span(times).first(count));
  const Robust power = robust(std::span(powers).first(count));
  const double cell = work / static_cast<double>(count);
  StretchMean out{.work = work,
                  .begin = last_.at - (last_.at - first_.at) *
                                          (static_cast<double>(count_ - begin) / static_cast<double>(count_)),
                  .end = last_.at,
                  .log_time = std::log(time.mean),
                  .log_power = std::log(power.mean),
                  .time_scatter = {},
                  .power_scatter = {}};
  if (time.scatter) out.time_scatter = *time.scatter * cell;
  if (power.scatter) out.power_scatter = *power.scatter * cell;
  return out;
}

std::optional<StretchMean> StretchMeter::since_shift(double least) const {
  std::array<double, kCells> times{};
  std::array<double, kCells> powers{};
  for (std::size_t i = 0; i < count_; ++i) {
    const Cell& c = cells_[i];
    if (!(c.seconds > 0) || !(c.joules > 0)) return std::nullopt;
    times[i] = c.seconds / c.work;
    powers[i] = c.joules / c.seconds;
  }
  const Jump time = largest_jump(std::span(times).first(count_), least);
  const Jump power = largest_jump(std::span(powers).first(count_), least);
  const Jump& jump = time.size > power.size ? time : power;
  if (jump.size <= 1) return std::nullopt;
  return mean_of(jump.at, count_);
}

}  // namespace rubato::govern
