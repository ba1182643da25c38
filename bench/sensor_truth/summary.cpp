#include "sensor_truth/summary.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace rubato::truth {
namespace {

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  const auto at = std::lround(q * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

}  // namespace

Summary summarise(const std::vector<Trial>& trials, const Choose& choose, Judged Trial::*which) {
  Summary sum;
  std::vector<double> sampling;
  std::vector<double> uncalibrated;
  std::vector<double> calibrated;
  for (const Trial& trial : trials) {
    if (!choose(trial)) continue;
    const Judged& judged = trial.*which;
    ++sum.runs;
    sum.sampling += judged.sampling ? 1 : 0;
    sum.uncalibrated += judged.uncalibrated ? 1 : 0;
    sum.calibrated += judged.calibrated ? 1 : 0;
    sampling.push_back(judged.half_width);
    uncalibrated.push_back(judged.uncalibrated_width);
    calibrated.push_back(judged.calibrated_width);
  }
  if (sum.runs == 0) return sum;
  const auto runs = static_cast<double>(sum.runs);
  sum.sampling /= runs;
  sum.uncalibrated /= runs;
  sum.calibrated /= runs;
  sum.median_width = quantile(sampling, 0.5);
  sum.tenth_widest = quantile(sampling, 0.9);
  sum.uncalibrated_width = quantile(uncalibrated, 0.5);
  sum.calibrated_width = quantile(calibrated, 0.5);
  return sum;
}

std::vector<std::string> kinds_of(const std::vector<Trial>& trials) {
  std::set<std::string> kinds;
  for (const Trial& trial : trials) kinds.insert(trial.kind);
  return {kinds.begin(), kinds.end()};
}

}  // namespace rubato::truth
