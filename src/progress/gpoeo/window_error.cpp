#include "progress/gpoeo/window_error.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "progress/gpoeo/moments.h"
#include "progress/gpoeo/published.h"
#include "progress/gpoeo/window_groups.h"

namespace rubato::progress::gpoeo {
namespace {

// So that 0.3 / 0.1 is three samples.
constexpr double kRounding = 1e-9;

std::optional<double> pair_error(std::span<const double> trace, const Moments& moments, std::size_t first,
                                 std::size_t size) {
  const std::size_t second = first + size;
  const std::size_t leading =
      moments.deviation(first, second) >= moments.deviation(second, second + size) ? first : second;
  const std::vector<std::size_t> borders = group_borders(trace.subspan(leading, size));
  const double mean_a = moments.mean(first, second);
  const double mean_b = moments.mean(second, second + size);
  const double mean = std::abs(mean_a + mean_b) / 2;
  if (mean == 0) return std::nullopt;
  double sum = 0;
  for (std::size_t i = 0; i + 1 < borders.size(); ++i) {
    const double a = moments.mean(first + borders[i], first + borders[i + 1]) - mean_a;
    const double b = moments.mean(second + borders[i], second + borders[i + 1]) - mean_b;
    sum += static_cast<double>(borders[i + 1] - borders[i]) / static_cast<double>(size) * std::abs(b - a);
  }
  return sum / mean * 100;
}

}  // namespace

std::optional<double> window_error(std::span<const double> trace, double period, double reference) {
  const auto size = static_cast<std::size_t>(period / kInterval + kRounding);
  if (size == 0 || trace.size() < 2 * size) return std::nullopt;
  const Moments moments(trace);
  std::vector<double> errors;
  for (std::size_t begin = 0; begin + 2 * size <= trace.size(); begin += size) {
    const std::optional<double> error = pair_error(trace, moments, begin, size);
    if (!error) return std::nullopt;
    errors.push_back(*error);
  }
  if (reference / period >= kPoolFrom) {
    const auto block = static_cast<std::size_t>(std::ceil(reference / period));
    std::vector<double> worst;
    for (std::size_t begin = 0; begin < errors.size(); begin += block)
      worst.push_back(*std::max_element(
          errors.begin() + static_cast<std::ptrdiff_t>(begin),
          errors.begin() + static_cast<std::ptrdiff_t>(std::min(begin + block, errors.size()))));
    errors = std::move(worst);
  }
  return std::accumulate(errors.begin(), errors.end(), 0.0) / static_cast<double>(errors.size());
}

}  // namespace rubato::progress::gpoeo
