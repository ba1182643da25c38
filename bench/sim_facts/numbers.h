// The little statistics the page needs, and how its numbers are written.
#pragma once

#include <string>
#include <vector>

namespace rubato::facts {

[[nodiscard]] double mean(const std::vector<double>& values);
[[nodiscard]] double largest(const std::vector<double>& values);
/// Between the order statistics; `share` in 0..1.
[[nodiscard]] double quantile(std::vector<double> values, double share);
/// first, first + step, ... up to `last`.
[[nodiscard]] std::vector<double> steps(double first, double last, double step);
/// Standard deviation over mean.
[[nodiscard]] double spread(const std::vector<double>& values);

/// Least squares of y = sum of c_k * basis_k over rows; at most three terms.
[[nodiscard]] std::vector<double> fit(const std::vector<std::vector<double>>& rows,
                                      const std::vector<double>& y);

/// 0.2951 -> "29.5 %".
[[nodiscard]] std::string percent(double fraction, int digits = 1);
/// The same with its sign.
[[nodiscard]] std::string change(double fraction, int digits = 1);
[[nodiscard]] std::string number(double value, int digits = 0);

}  // namespace rubato::facts
