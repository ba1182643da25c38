#include "progress/period/steadiness.h"

#include <algorithm>
#include <cmath>

namespace rubato::progress {

namespace {

constexpr std::size_t kLeastForWidth = 3;
constexpr std::size_t kLeastForDrift = 12;
constexpr std::size_t kGroups = 14;       // a line and its scatter ask no more
constexpr double kSignificant = 4;        // standard errors
constexpr double kMedianOverMean = 1.25;  // standard error of a median, over that of a mean
constexpr double kNormal95 = 1.96;
constexpr double kQuartersToSd = 0.74;
constexpr double kMarkError = 0.2;  // of an update: what a mark is off by where nothing else is

/// Squares left where the length changed once, at the best of all places: a change of clock, no drift.
double left_by_a_step(const std::vector<Cycle>& cycles) {
  double all = 0;
  double squares = 0;
  for (const Cycle& cycle : cycles) {
    all += cycle.length_s();
    squares += cycle.length_s() * cycle.length_s();
  }
  const auto n = static_cast<double>(cycles.size());
  double before = 0;
  double least = squares - all * all / n;
  for (std::size_t i = 1; i < cycles.size(); ++i) {
    before += cycles[i - 1].length_s();
    const auto k = static_cast<double>(i);
    least = std::min(least, squares - before * before / k - (all - before) * (all - before) / (n - k));
  }
  return least;
}

}  // namespace

std::optional<double> half_width_of(const std::vector<Cycle>& cycles, double update_s) {
  const std::size_t n = cycles.size();
  if (n < kLeastForWidth) return std::nullopt;
  std::vector<double> lengths;
  lengths.reserve(n);
  for (const Cycle& cycle : cycles) lengths.push_back(cycle.length_s());
  std::sort(lengths.begin(), lengths.end());
  const double median = lengths[n / 2];
  const double spread = kQuartersToSd * (lengths[n * 3 / 4] - lengths[n / 4]);
  const double scatter = std::hypot(spread, kMarkError * update_s);
  // Few cycles know their own scatter badly: as Student's factor over the normal one.
  const double few = 1 + 2.5 / static_cast<double>(n);
  return kNormal95 * few * kMedianOverMean * scatter / std::sqrt(static_cast<double>(n)) / median;
}

std::optional<double> drift_of(const std::vector<Cycle>& cycles) {
  if (cycles.size() < kLeastForDrift) return std::nullopt;
  // Where a mark was off, one length is too long and the next too short: means over neighbours are not.
  const std::size_t group = std::max<std::size_t>(1, cycles.size() / kGroups);
  std::vector<Cycle> means;  // each as long as the cycles around its begin
  for (std::size_t first = 0; first + group <= cycles.size(); first += group) {
    double sum = 0;
    for (std::size_t i = first; i < first + group; ++i) sum += cycles[i].length_s();
    const double middle = 0.5 * (cycles[first].begin_s + cycles[first + group - 1].end_s);
    means.push_back({middle, middle + sum / static_cast<double>(group)});
  }
  const auto n = static_cast<double>(means.size());
  double mean_at = 0;
  double mean = 0;
  for (const Cycle& cycle : means) {
    mean_at += cycle.begin_s / n;
    mean += cycle.length_s() / n;
  }
  double tt = 0;
  double ty = 0;
  double yy = 0;
  for (const Cycle& cycle : means) {
    const double t = cycle.begin_s - mean_at;
    const double y = cycle.length_s() - mean;
    tt += t * t;
    ty += t * y;
    yy += y * y;
  }
  if (tt <= 0 || mean <= 0) return std::nullopt;
  const double slope = ty / tt;
  const double left = std::max(0.0, yy - slope * ty) / (n - 2);
  if (std::abs(slope) < kSignificant * std::sqrt(left / tt)) return std::nullopt;
  if (yy - slope * ty > left_by_a_step(means)) return std::nullopt;
  return 60 * slope / mean;
}

}  // namespace rubato::progress
