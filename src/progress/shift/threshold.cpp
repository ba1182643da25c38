#include "progress/shift/threshold.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/normal.h"

namespace rubato::progress {
namespace {

double density(double x) {
  return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
}

/// By how much a random walk overshoots a boundary, as a factor on the chance to reach it.
double nu(double x) {
  if (x < 1e-6) return 1;
  return 2 / x * (normal_below(x / 2) - 0.5) / (x / 2 * normal_below(x / 2) + density(x / 2));
}

}  // namespace

double readings_between_alarms(double threshold, std::size_t shortest, std::size_t longest) {
  const double low = threshold / std::sqrt(static_cast<double>(longest));
  const double high = threshold / std::sqrt(static_cast<double>(shortest));
  constexpr int kSteps = 64;
  const double step = (high - low) / kSteps;
  double integral = 0;
  for (int i = 0; i < kSteps; ++i) {
    const double x = low + (i + 0.5) * step;
    integral += x * nu(x) * nu(x) * step;
  }
  return std::sqrt(2 * std::numbers::pi) * std::exp(threshold * threshold / 2) / (threshold * integral);
}

double threshold_for(double readings, std::size_t shortest, std::size_t longest) {
  double low = 1;
  double high = 12;
  for (int i = 0; i < 40; ++i) {
    const double middle = (low + high) / 2;
    (readings_between_alarms(middle, shortest, longest) < readings ? low : high) = middle;
  }
  return high;
}

double as_student(double normal, double degrees_of_freedom) {
  const double n = degrees_of_freedom;
  const double z = normal * (8 * n + 3) / (8 * n + 1);
  return std::sqrt(n * std::expm1(z * z / n));
}

double variance_of_mean(double correlation, double count) {
  const double m = count;
  if (m <= 1) return 1;
  // The geometric sum of 1 + 2 sum (1 - j/m) r^j.
  const double r = std::clamp(correlation, -0.99, 0.999);
  const double sum = (1 + r) / (1 - r) - 2 * r * (1 - std::pow(r, m)) / (m * (1 - r) * (1 - r));
  return std::clamp(sum / m, 1e-6, 1.0);
}

double log_chance_of_hits(std::size_t hits, std::size_t count, double p) {
  const double c = static_cast<double>(hits);
  const double m = static_cast<double>(count);
  const double ways = std::lgamma(m + 1) - std::lgamma(c + 1) - std::lgamma(m - c + 1);
  return std::min(0.0, ways + c * std::log(p));
}

}  // namespace rubato::progress
