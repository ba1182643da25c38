#include "sim_facts/numbers.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

namespace rubato::facts {

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double largest(const std::vector<double>& values) {
  return *std::max_element(values.begin(), values.end());
}

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const double at = share * static_cast<double>(values.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, values.size() - 1);
  return values[low] + (values[high] - values[low]) * (at - static_cast<double>(low));
}

std::vector<double> steps(double first, double last, double step) {
  std::vector<double> out;
  double value = first;
  while (value <= last) {
    out.push_back(value);
    value += step;
  }
  return out;
}

double spread(const std::vector<double>& values) {
  const double m = mean(values);
  double sum = 0.0;
  for (const double v : values) sum += (v - m) * (v - m);
  return std::sqrt(sum / static_cast<double>(values.size() - 1)) / m;
}

std::vector<double> fit(const std::vector<std::vector<double>>& rows, const std::vector<double>& y) {
  const std::size_t n = rows.front().size();
  // Normal equations by Gauss-Jordan: the bases are scaled to about 1, and there are at most three.
  std::vector<std::vector<double>> a(n, std::vector<double>(n + 1, 0.0));
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) a[i][j] += rows[r][i] * rows[r][j];
      a[i][n] += rows[r][i] * y[r];
    }
  for (std::size_t p = 0; p < n; ++p) {
    const double pivot = a[p][p];
    for (double& value : a[p]) value /= pivot;
    for (std::size_t i = 0; i < n; ++i) {
      if (i == p) continue;
      const double factor = a[i][p];
      for (std::size_t j = 0; j <= n; ++j) a[i][j] -= factor * a[p][j];
    }
  }
  std::vector<double> out;
  out.reserve(a.size());
  for (const auto& row : a) out.push_back(row[n]);
  return out;
}

std::string number(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  const std::string out = text;
  // No "-0.0": it is a rounded nothing.
  return out.find_first_not_of("-0.") == std::string::npos && out.front() == '-' ? out.substr(1) : out;
}

std::string percent(double fraction, int digits) {
  return number(100.0 * fraction, digits) + " %";
}

std::string change(double fraction, int digits) {
  const std::string text = percent(fraction, digits);
  return text.front() == '-' || text.find_first_not_of("0. %") == std::string::npos ? text : "+" + text;
}

}  // namespace rubato::facts
