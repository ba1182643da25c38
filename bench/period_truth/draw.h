// Distributions the generator draws from.
#pragma once

#include <cmath>

#include "base/random.h"

namespace rubato::period_truth {

[[nodiscard]] inline double log_uniform(Random& random, double low, double high) {
  return low * std::pow(high / low, random.uniform());
}
[[nodiscard]] inline bool chance(Random& random, double probability) {
  return random.uniform() < probability;
}
[[nodiscard]] inline int between(Random& random, int low, int high) {
  return low + static_cast<int>(
                   random.index(static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1));
}
/// Median 1.
[[nodiscard]] inline double log_normal(Random& random, double sigma) {
  return std::exp(sigma * random.normal());
}
[[nodiscard]] inline double exponential(Random& random, double mean) {
  return -mean * std::log(1 - random.uniform());
}
/// At least `scale`; the smaller `alpha`, the heavier the tail.
[[nodiscard]] inline double pareto(Random& random, double scale, double alpha) {
  return scale * std::pow(1 - random.uniform(), -1 / alpha);
}

}  // namespace rubato::period_truth
