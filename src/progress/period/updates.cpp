#include "progress/period/updates.h"

#include <algorithm>
#include <cmath>

namespace rubato::progress {

namespace {

constexpr double kFollow = 0.1;          // of a reading's lateness that the grid follows
constexpr double kFollowPace = 0.002;    // and its pace
constexpr std::size_t kSlow = 33;        // updates in the moving average
constexpr std::size_t kLongestGap = 40;  // updates a hang of the reader is filled with, at most

/// The mean of those steps from one new value to the next that skip no update.
double pace_of(std::deque<ColumnSample>::const_iterator it,
               const std::deque<ColumnSample>::const_iterator& end, double rough_s) {
  double sum = 0;
  double count = 0;
  for (const ColumnSample* last = nullptr; it != end; ++it) {
    if (last != nullptr && it->value == last->value) continue;
    const double step = last != nullptr ? it->at_s - last->at_s : 0;
    last = &*it;
    if (step < 0.5 * rough_s || step > 1.6 * rough_s) continue;
    sum += step;
    count += 1;
  }
  return count > 0 ? sum / count : rough_s;
}

/// Less the moving average, so that warmth and fans leave no line.
void take_off_slow(std::vector<double>& values) {
  std::vector<double> sums(values.size() + 1, 0.0);
  for (std::size_t i = 0; i < values.size(); ++i) sums[i + 1] = sums[i] + values[i];
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t from = i - std::min(i, kSlow / 2);
    const std::size_t to = std::min(values.size(), i + kSlow / 2 + 1);
    values[i] -= (sums[to] - sums[from]) / static_cast<double>(to - from);
  }
}

}  // namespace

Updates updates_of(const std::deque<ColumnSample>& samples, double from_s, double to_s,
                   double rough_update_s) {
  Updates out;
  auto it = std::lower_bound(samples.begin(), samples.end(), from_s,
                             [](const ColumnSample& s, double t) { return s.at_s < t; });
  const auto end =
      std::upper_bound(it, samples.end(), to_s, [](double t, const ColumnSample& s) { return t < s.at_s; });
  out.update_s = pace_of(it, end, rough_update_s);
  double due_s = 0;
  for (const ColumnSample* last = nullptr; it != end; last = &*it, ++it) {
    if (last != nullptr && it->value == last->value) continue;
    if (out.value.empty()) {
      due_s = it->at_s;
      out.value.push_back(it->value);
      continue;
    }
    const double steps = std::round((it->at_s - due_s) / out.update_s);
    if (steps < 1) continue;
    // A value that stayed was shown again; after a hang of the reader nothing is known, but it is short.
    out.value.insert(out.value.end(), std::min(static_cast<std::size_t>(steps), kLongestGap) - 1,
                     out.value.back());
    out.value.push_back(it->value);
    due_s += steps * out.update_s;
    const double late = it->at_s - due_s;
    due_s += kFollow * late;
    if (steps < 2) out.update_s += kFollowPace * late;
  }
  if (out.value.size() > kMostUpdates)
    out.value.erase(out.value.begin(), out.value.end() - static_cast<std::ptrdiff_t>(kMostUpdates));
  take_off_slow(out.value);
  return out;
}

}  // namespace rubato::progress
