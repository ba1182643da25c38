// The standard normal distribution.
#pragma once

#include <cmath>
#include <numbers>

namespace rubato {

/// Probability of at most `z` standard deviations over the mean.
[[nodiscard]] inline double normal_below(double z) {
  return 0.5 * std::erfc(-z / std::numbers::sqrt2);
}

}  // namespace rubato
