// Small statistics over short series. What too few values cannot tell is absent.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "base/median.h"

namespace rubato::progress {

/// Mean and variance of values that arrive one by one (Welford 1962).
class Moments {
 public:
  void add(double value);
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::optional<double> mean() const;
  /// Of the sample, with n - 1 below; absent for fewer than two values.
  [[nodiscard]] std::optional<double> variance() const;

 private:
  std::size_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0;
};

/// A mean of values that depend on their neighbours, and how far to trust it.
struct BatchMeans {
  double mean = 0;                       // over the values in whole batches
  std::optional<double> standard_error;  // absent for fewer than two batches
  std::size_t batches = 0;
  std::size_t values = 0;
};

[[nodiscard]] std::optional<double> mean(std::span<const double> values);
[[nodiscard]] std::optional<double> variance(std::span<const double> values);
using rubato::median;
/// Cuts the series into `batches` stretches of equal length and treats their means as independent. With fewer
/// values than batches each value is a batch. Absent for no values or no batches.
[[nodiscard]] std::optional<BatchMeans> batch_means(std::span<const double> values, std::size_t batches);

}  // namespace rubato::progress
