#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace rubato {

/// Middle value, or the mean of the two in the middle. Absent: there is none.
[[nodiscard]] inline std::optional<double> median(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  std::vector<double> copy(values.begin(), values.end());
  const auto middle = copy.begin() + static_cast<std::ptrdiff_t>(copy.size() / 2);
  std::nth_element(copy.begin(), middle, copy.end());
  if (copy.size() % 2 == 1) return *middle;
  // nth_element leaves the lower half in any order, so its largest is the other middle value. Halving before
  // adding keeps two huge values from overflowing.
  const double below = *std::max_element(copy.begin(), middle);
  return below / 2 + *middle / 2;
}

}  // namespace rubato
