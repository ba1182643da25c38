#include "progress/period/pauses.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace rubato::progress {

namespace {

constexpr std::size_t kMostApart = 12;
constexpr double kLeastPairs = 4;

/// Of lengths that follow each other without a pause.
double alternating(const std::vector<Cycle>& cycles, const std::vector<std::size_t>& run, std::size_t apart) {
  double sum = 0;
  double squares = 0;
  double near = 0;
  double count = 0;
  const auto square = [&](std::size_t i, std::size_t j) {
    const double off = cycles[i].length_s() - cycles[j].length_s();
    return off * off;
  };
  for (std::size_t i = apart; i < cycles.size(); ++i) {
    if (run[i] < apart) continue;
    const double here = 0.5 * (square(i, i - 1) + square(i - apart + 1, i - apart));
    const double gain = here - square(i, i - apart);
    near += here;
    sum += gain;
    squares += gain * gain;
    count += 1;
  }
  if (count < kLeastPairs || near <= 0) return 0;
  const double mean = sum / count;
  // A tenth of what neighbours differ by: few pairs that happen to agree are no certainty.
  const double variance = std::max(0.0, squares / count - mean * mean) + 0.01 * near * near / count / count;
  return mean / std::sqrt(variance / count);
}

}  // namespace

CycleOrder order_of(const std::vector<Cycle>& cycles) {
  CycleOrder out;
  std::vector<std::size_t> run(cycles.size(), 0);  // joined cycles up to this one
  std::vector<double> distances;
  double last_s = 0;
  for (std::size_t i = 1; i < cycles.size(); ++i) {
    if (cycles[i].begin_s - cycles[i - 1].end_s < kJoinedSeconds) {
      run[i] = run[i - 1] + 1;
      continue;
    }
    if (out.pauses > 0) distances.push_back(cycles[i].begin_s - last_s);
    last_s = cycles[i].begin_s;
    out.pauses += 1;
  }
  out.by_twos_z = alternating(cycles, run, 2);
  out.by_threes_z = alternating(cycles, run, 3);
  for (std::size_t apart = 4; apart <= kMostApart; ++apart)
    out.by_more_z = std::max(out.by_more_z, alternating(cycles, run, apart));
  if (distances.size() < 2) return out;
  std::sort(distances.begin(), distances.end());
  const std::size_t n = distances.size();
  out.apart_s = distances[n / 2];
  out.unevenness = 0.5 * (distances[n * 3 / 4] - distances[n / 4]) / out.apart_s;
  return out;
}

}  // namespace rubato::progress
