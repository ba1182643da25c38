#include "progress/stats.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace rubato::progress {

// Time stamps and counters are large with small differences: a sum of squares minus the square of a sum would
// subtract two nearly equal numbers and may even turn negative. Deviations from the running mean do not.
void Moments::add(double value) {
  ++count_;
  const double from_old = value - mean_;
  mean_ += from_old / static_cast<double>(count_);
  squares_ += from_old * (value - mean_);
}

std::optional<double> Moments::mean() const {
  if (count_ == 0) return std::nullopt;
  return mean_;
}

std::optional<double> Moments::variance() const {
  if (count_ < 2) return std::nullopt;
  return squares_ / static_cast<double>(count_ - 1);
}

std::optional<double> mean(std::span<const double> values) {
  Moments moments;
  for (const double v : values) moments.add(v);
  return moments.mean();
}

std::optional<double> variance(std::span<const double> values) {
  Moments moments;
  for (const double v : values) moments.add(v);
  return moments.variance();
}

std::optional<BatchMeans> batch_means(std::span<const double> values, std::size_t batches) {
  if (values.empty() || batches == 0) return std::nullopt;
  batches = std::min(batches, values.size());
  const std::size_t length = values.size() / batches;
  // Unequal batches would have unequal variances. What does not fit is left out at the front, where a run is
  // most likely still settling.
  values = values.last(length * batches);
  Moments means;
  for (std::size_t b = 0; b < batches; ++b) means.add(*mean(values.subspan(b * length, length)));
  BatchMeans result{*means.mean(), std::nullopt, batches, values.size()};
  // Neighbouring values move together, so the spread of single values over sqrt(n) would promise too much.
  if (const auto v = means.variance()) result.standard_error = std::sqrt(*v / static_cast<double>(batches));
  return result;
}

}  // namespace rubato::progress
