// Batches whose neighbours resemble each other, a first-order process, and how often their 90 % intervals
// hold the truth.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "analyse/batches.h"
#include "analyse/student_t.h"
#include "base/random.h"
#include "made_run.h"

namespace rubato::analyse::testing_data {

inline constexpr double kMean = 1.1;      // s: 55 updates of the sensor, so that each iteration is a batch
inline constexpr double kScatter = 0.05;  // s

/// One block of n iterations, each of which resembles the one before by r.
inline Mean time_of(Random& random, int n, double r) {
  record::RunRecord run = MadeRun().block(BlockRole::baseline, n, Seconds(kMean), 200_W).ended();
  double off = random.normal();
  TimePoint at = kBegin;
  for (Iteration& iteration : run.iterations) {
    iteration.begin = at;
    iteration.end = at = at + Seconds(kMean + kScatter * off);
    off = r * off + std::sqrt(1 - r * r) * random.normal();
  }
  run.blocks[0].end = at;
  return cost_per_iteration(run, {}, stretches_of(run)).time;
}

struct Intervals {
  double coverage = 0;    // share that hold the truth
  double half_width = 0;  // the middle one, of the one that would be right if r were known
};

inline Intervals intervals(int n, double r, int runs) {
  Random random(54);
  double squares = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) squares += std::pow(r, std::abs(i - j));
  const double right = 1.645 * kScatter * std::sqrt(squares) / n;
  Intervals out;
  std::vector<double> widths;
  for (int i = 0; i < runs; ++i) {
    const Mean mean = time_of(random, n, r);
    const double half = student_t_quantile(0.95, mean.degrees) * *mean.relative_error * mean.value;
    out.coverage += std::abs(mean.value - kMean) <= half ? 1.0 / runs : 0.0;
    widths.push_back(half / right);
  }
  const auto middle = widths.begin() + runs / 2;
  std::ranges::nth_element(widths, middle);
  out.half_width = *middle;
  return out;
}

}  // namespace rubato::analyse::testing_data
