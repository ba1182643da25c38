#include "progress/shift/baseline.h"

#include <algorithm>
#include <cmath>

#include "progress/shift/threshold.h"
#include "progress/stats.h"

namespace rubato::progress {
namespace {

// The level is that of the latest three minutes, so that it follows a board that warms up.
constexpr double kLevelSeconds = 180;
constexpr std::size_t kFewestForLevel = 24;
// A drift is learned over a minute and thirty readings at least, and extrapolated at most at 1 % a minute:
// what goes faster is a change.
constexpr double kDriftSeconds = 60;
constexpr std::size_t kFewestForDrift = 30;
constexpr double kSteepest = 0.01 / 60;
// No sensor of a board is steadier than this; quantised readings may well all be equal.
constexpr double kSteadiest = 0.002;
constexpr double kNormalOverMad = 1.4826;
constexpr double kClipAt = 3;
constexpr double kTailIndex = 3;
constexpr double kLargestCorrelation = 0.98;
// With fewer no change at all would count; thirty estimated spreads are what six ask for.
constexpr double kFewestDegrees = 6;
constexpr double kMuchLess = 0.3;  // two estimates of the correlation of one series differ less than so
// Trimmed means and medians of a normal vary so much more than the plain mean, as variances.
constexpr double kTrimmedVariance = 1.15;
constexpr double kMedianOfThreeVariance = 1.35;

double trimmed_mean(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return trimmed_mean_of_sorted(values);
}

// One small step of the level long ago makes all its readings look correlated. The differences of neighbours
// do not, once the largest of them are left out: those of an autoregression hang together by -(1 - r) / 2.
// One standard error is added.
double correlation_of_steps(const std::vector<double>& residuals) {
  const std::size_t n = residuals.size() - 1;
  std::vector<double> sizes;
  for (std::size_t i = 0; i < n; ++i) sizes.push_back(std::abs(residuals[i + 1] - residuals[i]));
  const auto largest = sizes.end() - static_cast<std::ptrdiff_t>(1 + n / 50);
  std::nth_element(sizes.begin(), largest, sizes.end());
  const double left_out = *largest;
  double own = 0;
  double next = 0;
  double before = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double step = residuals[i + 1] - residuals[i];
    const double kept = std::abs(step) < left_out ? step : 0;
    own += kept * kept;
    next += kept * before;
    before = kept;
  }
  if (own <= 0) return 0;
  const double r = next / own;
  const double error = std::sqrt(std::max(0.0, 1 - 3 * r * r + 4 * std::pow(r, 4)) / static_cast<double>(n));
  return std::clamp(1 + 2 * (r + error), 0.0, kLargestCorrelation);
}

}  // namespace

double trimmed_mean_of_sorted(std::span<const double> sorted) {
  const std::size_t off = sorted.size() < 3 ? 0 : std::max<std::size_t>(1, sorted.size() / 5);
  const auto kept = sorted.subspan(off, sorted.size() - 2 * off);
  double sum = 0;
  for (const double v : kept) sum += v;
  return sum / static_cast<double>(kept.size());
}

Baseline::Baseline(std::span<const SignalPoint> points) {
  const double span_s = points.back().middle_s() - points.front().middle_s();
  if (span_s > 0) readings_per_second_ = static_cast<double>(points.size() - 1) / span_s;
  find_level(points);
  const double slope = steepness(points);
  hold_against(points, slope);
  // Rather no drift than one made of noise: it is extrapolated.
  const double third = std::floor(static_cast<double>(points.size()) / 3);
  const double error = spread_ * std::sqrt(2 * variance_of_mean(correlation_, third)) / (span_s * 2 / 3);
  const double kept = std::abs(slope) < 2 * error ? 0 : std::clamp(slope, -kSteepest, kSteepest);
  if (kept != slope) hold_against(points, kept);
  sorted_ = residuals_;
  std::sort(sorted_.begin(), sorted_.end());
}

void Baseline::hold_against(std::span<const SignalPoint> points, double slope) {
  slope_ = slope;
  residuals_.clear();
  residuals_.reserve(points.size());
  for (const SignalPoint& p : points) residuals_.push_back(p.y - expected(p.middle_s()));
  find_noise();
}

void Baseline::find_level(std::span<const SignalPoint> points) {
  std::size_t first = points.size() - std::min(points.size(), kFewestForLevel);
  const double since = points.back().middle_s() - kLevelSeconds;
  while (first > 0 && points[first - 1].middle_s() >= since) --first;
  std::vector<double> values;
  for (const SignalPoint& p : points.subspan(first)) {
    values.push_back(p.y);
    level_at_s_ += p.middle_s();
  }
  level_readings_ = values.size();
  level_at_s_ /= static_cast<double>(level_readings_);
  level_ = trimmed_mean(std::move(values));
}

// From the first third to the last.
double Baseline::steepness(std::span<const SignalPoint> points) const {
  const std::size_t third = points.size() / 3;
  const double first_s = points[third / 2].middle_s();
  const double last_s = points[points.size() - 1 - third / 2].middle_s();
  if (points.size() < kFewestForDrift || last_s - first_s < kDriftSeconds * 2 / 3) return 0;
  const auto level_of = [](std::span<const SignalPoint> some) {
    std::vector<double> values;
    for (const SignalPoint& p : some) values.push_back(p.y);
    return trimmed_mean(std::move(values));
  };
  return (level_of(points.last(third)) - level_of(points.first(third))) / (last_s - first_s);
}

void Baseline::find_noise() {
  const double n = static_cast<double>(residuals_.size());
  std::vector<double> sizes;
  for (const double r : residuals_) sizes.push_back(std::abs(r));
  spread_ = std::max(kSteadiest, kNormalOverMad * *median(sizes));
  // Clipped, so that a stall counts as one large reading and no more.
  std::vector<double> clipped;
  for (const double r : residuals_) clipped.push_back(std::clamp(r, -kClipAt * spread_, kClipAt * spread_));
  const double centre = *mean(clipped);
  double own = 0;
  double next = 0;
  for (std::size_t i = 0; i < clipped.size(); ++i) {
    own += (clipped[i] - centre) * (clipped[i] - centre);
    if (i + 1 < clipped.size()) next += (clipped[i] - centre) * (clipped[i + 1] - centre);
  }
  spread_ = std::max(spread_, std::sqrt(own / (n - 1)));
  // The estimate falls short by (1 + 3 r) / n (Kendall, Biometrika 41 (1954) 403), and is uncertain besides.
  const double raw = own > 0 ? next / own : 0;
  const double unbiased = std::clamp((raw * n + 1) / (n - 3), 0.0, kLargestCorrelation);
  correlation_ = std::min(kLargestCorrelation, unbiased + std::sqrt((1 - unbiased * unbiased) / n));
  const double of_steps = correlation_of_steps(clipped);
  if (of_steps < correlation_ - kMuchLess) correlation_ = of_steps;
  // Readings that hang together lie nearer to their own mean than to the true level.
  spread_ /= std::sqrt(std::max(0.1, 1 - variance_of_mean(correlation_, n)));
  // Noise with a longer memory than its neighbours show: means of stretches vary more than they should.
  for (const std::size_t length : {4U, 8U, 16U}) {
    const std::size_t stretches = residuals_.size() / length;
    if (stretches < 6) break;
    Moments moments;
    for (std::size_t i = 0; i < stretches; ++i)
      moments.add(*mean(std::span(clipped).subspan(i * length, length)));
    const double more = *moments.variance() /
                        (spread_ * spread_ * variance_of_mean(correlation_, static_cast<double>(length))) /
                        (1 + 2 * std::sqrt(2 / static_cast<double>(stretches)));
    if (more > 1) spread_ *= std::sqrt(more);
  }
}

double Baseline::degrees_of_freedom() const {
  const double r2 = correlation_ * correlation_;
  return std::max(kFewestDegrees, static_cast<double>(residuals_.size()) * (1 - r2) / (1 + r2) - 1);
}

double Baseline::standard_error(double count) const {
  const double trimming = count < 5 ? kMedianOfThreeVariance : kTrimmedVariance;
  const double of_mean = std::min(1.0, trimming * variance_of_mean(correlation_, count));
  const double of_level =
      kTrimmedVariance * variance_of_mean(correlation_, static_cast<double>(level_readings_));
  return spread_ * std::sqrt(of_mean + of_level);
}

double Baseline::chance_beyond(double distance, double sign) const {
  const double all = static_cast<double>(sorted_.size());
  double beyond = 0;
  double furthest = 0;
  if (sign > 0) {
    beyond = static_cast<double>(sorted_.end() - std::upper_bound(sorted_.begin(), sorted_.end(), distance));
    furthest = sorted_.back();
  } else {
    beyond =
        static_cast<double>(std::lower_bound(sorted_.begin(), sorted_.end(), -distance) - sorted_.begin());
    furthest = -sorted_.front();
  }
  const double chance = (beyond + 1) / (all + 2);
  furthest = std::max(furthest, spread_);
  if (distance <= furthest) return chance;
  return chance * std::pow(furthest / distance, kTailIndex);
}

}  // namespace rubato::progress
