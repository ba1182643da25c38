#include "govern/rubato/stretch_meter.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace rubato::govern {
namespace {

// Of the cells at either end, left out of a mean: a stall or a stray reading is no part of what a setting
// costs.
constexpr double kTrimmed = 0.1;
constexpr std::size_t kFewestForScatter = 4;
constexpr double kErrors = 5;

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

struct Jump {
  std::size_t at = 0;
  double size = 0;  // over the least that counts
};

/// The likeliest jump of the mean: over `least` (relative) and what noise makes of it. The noise of one value
/// is told by how unlike neighbours are, of which a jump parts one pair only (von Neumann 1941).
Jump largest_jump(std::span<const double> values, double least) {
  const std::size_t n = values.size();
  if (n < 2 * kFewestForScatter) return {};
  double sum = 0;
  double steps = 0;
  for (std::size_t i = 0; i < n; ++i) {
    sum += values[i];
    if (i > 0) steps += (values[i] - values[i - 1]) * (values[i] - values[i - 1]);
  }
  const double level = sum / static_cast<double>(n);
  const double noise = std::sqrt(steps / static_cast<double>(n - 1) / 2) / level;
  Jump out;
  double likeliest = 0;
  double before = 0;
  for (std::size_t i = 1; i + kFewestForScatter <= n; ++i) {
    before += values[i - 1];
    if (i < kFewestForScatter) continue;
    const auto first = static_cast<double>(i);
    const auto second = static_cast<double>(n - i);
    const double apart = std::abs((sum - before) / second - before / first) / level;
    const double unit = std::sqrt(1 / first + 1 / second);
    if (apart / unit <= likeliest) continue;
    likeliest = apart / unit;
    out = {i, apart / (least + kErrors * noise * unit)};
  }
  return out;
}

}  // namespace

void StretchMeter::begin(const Tally& tally, double cell) {
  first_ = last_ = cell_ = tally;
  least_ = cell;
  count_ = 0;
}

void StretchMeter::add(const Tally& tally) {
  if (!(tally.work > last_.work)) return;
  last_ = tally;
  const double work = tally.work - cell_.work;
  if (work < least_ * 0.999 || !tally.energy || !cell_.energy) return;
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
                  .cell = least_,
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
