#include "progress/period/cycle_lengths.h"

#include <algorithm>
#include <cmath>

namespace rubato::progress {

namespace {

constexpr double kUneven = 0.02;  // spread of lengths that jitter
constexpr double kStepped = 1.6;  // times what neighbours differ by: the length changed, or drifts
constexpr std::size_t kGroups = 5;
// Marks are off by some tenths of an update. Means over longer runs place them better, but go with every
// stall, and with a drift. Chosen on generated development traces: twelve or fifty updates lose twice as
// many.
constexpr double kRunUpdates = 20;
constexpr double kLeastRun = 2;
constexpr double kOneSided = 2;  // standard errors of the mean

}  // namespace

std::vector<double> lengths_of(const std::vector<Cycle>& cycles, double period_s, double update_s,
                               double updates) {
  std::vector<double> out;
  const auto lasting = [&](double so_many) {
    return static_cast<std::size_t>(std::max(1.0, std::ceil(so_many * update_s / period_s)));
  };
  const std::size_t group =
      std::min(lasting(updates), std::max(lasting(kTimedWell), cycles.size() / kGroups));
  std::size_t first = 0;
  for (std::size_t i = 0; i < cycles.size(); ++i) {
    const bool joined = i == first || cycles[i].begin_s - cycles[i - 1].end_s < kJoinedSeconds;
    if (!joined) first = i;
    if (i - first + 1 == group) {
      const double mean = (cycles[i].end_s - cycles[first].begin_s) / static_cast<double>(group);
      out.insert(out.end(), group, mean);
      first = i + 1;
    }
  }
  return out;
}

std::vector<TimedLength> timed_lengths(const std::vector<Cycle>& cycles, double period_s, double update_s) {
  std::vector<TimedLength> out;
  const auto run =
      static_cast<std::size_t>(std::max(kLeastRun, std::ceil(kRunUpdates * update_s / period_s)));
  std::size_t first = 0;
  for (std::size_t i = 0; i < cycles.size(); ++i) {
    if (i > first && cycles[i].begin_s - cycles[i - 1].end_s >= kJoinedSeconds) first = i;
    if (i - first + 1 >= run)
      out.push_back(
          {cycles[i].end_s, (cycles[i].end_s - cycles[i + 1 - run].begin_s) / static_cast<double>(run)});
  }
  return out;
}

std::vector<double> overlapping_lengths(const std::vector<Cycle>& cycles, double period_s, double update_s) {
  const auto timed = timed_lengths(cycles, period_s, update_s);
  std::vector<double> out;
  out.reserve(timed.size());
  for (const TimedLength& length : timed) out.push_back(length.length_s);
  return out;
}

double steady_median(std::vector<double> lengths) {
  const std::size_t n = lengths.size();
  std::vector<double> steps;
  for (std::size_t i = 1; i < n; ++i) steps.push_back(std::abs(lengths[i] - lengths[i - 1]));
  std::sort(steps.begin(), steps.end());
  // Of normal values neighbours differ by 0.95 standard deviations in the median.
  const double local = steps.empty() ? 0 : steps[steps.size() / 2] / 0.95;
  std::sort(lengths.begin(), lengths.end());
  const double median = 0.5 * (lengths[n / 2] + lengths[(n - 1) / 2]);
  // With few and uneven cycles the median of what lies near it wanders less than the middle one does.
  const double spread = 0.74 * (lengths[n * 3 / 4] - lengths[n / 4]);
  if (spread < kUneven * median || spread > kStepped * local) return median;
  double sum = 0;
  double count = 0;
  for (const double length : lengths) {
    if (std::abs(length - median) > 2.5 * spread) continue;
    sum += length;
    count += 1;
  }
  // Where lengths stray to one side only, as beside pauses, the mean goes with them.
  const double mean = sum / count;
  return std::abs(mean - median) > kOneSided * spread / std::sqrt(count) ? median : mean;
}

}  // namespace rubato::progress
