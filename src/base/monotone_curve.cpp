#include "base/monotone_curve.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace rubato {
namespace {

// Where tangents in units of the secant lie inside a circle of this radius, the piece is monotone.
constexpr double kCircle = 3.0;

std::vector<double> secants(const std::vector<double>& x, const std::vector<double>& y) {
  std::vector<double> out;
  for (std::size_t i = 0; i + 1 < x.size(); ++i) out.push_back((y[i + 1] - y[i]) / (x[i + 1] - x[i]));
  return out;
}

// The parabola through a point and its neighbours; flat where the data turn.
double start_slope(const std::vector<double>& x, const std::vector<double>& secant, std::size_t i) {
  if (i == 0) return secant.front();
  if (i == secant.size()) return secant.back();
  if (!(secant[i - 1] * secant[i] > 0)) return 0.0;
  const double before = x[i] - x[i - 1];
  const double after = x[i + 1] - x[i];
  return (secant[i - 1] * after + secant[i] * before) / (before + after);
}

}  // namespace

MonotoneCurve::MonotoneCurve(std::span<const double> x, std::span<const double> y)
    : x_(x.begin(), x.end()), y_(y.begin(), y.end()), slope_(x.size(), 0.0) {
  if (x_.size() < 2) return;
  const std::vector<double> secant = secants(x_, y_);
  for (std::size_t i = 0; i < x_.size(); ++i) slope_[i] = start_slope(x_, secant, i);
  for (std::size_t i = 0; i < secant.size(); ++i) {
    if (secant[i] == 0.0) {
      slope_[i] = slope_[i + 1] = 0.0;
      continue;
    }
    const double length = std::hypot(slope_[i] / secant[i], slope_[i + 1] / secant[i]);
    if (length <= kCircle) continue;
    slope_[i] *= kCircle / length;
    slope_[i + 1] *= kCircle / length;
  }
}

double MonotoneCurve::at(double x) const {
  if (x <= x_.front()) return y_.front();
  if (x >= x_.back()) return y_.back();
  const auto above = std::upper_bound(x_.begin(), x_.end(), x);
  const auto i = static_cast<std::size_t>(above - x_.begin()) - 1;
  const double width = x_[i + 1] - x_[i];
  const double t = (x - x_[i]) / width;
  if (t == 0.0) return y_[i];
  const double hermite = y_[i] + t * t * (3 - 2 * t) * (y_[i + 1] - y_[i]) +
                         t * (1 - t) * ((1 - t) * slope_[i] - t * slope_[i + 1]) * width;
  // Rounding may step over the end of a flat piece.
  return std::clamp(hermite, std::min(y_[i], y_[i + 1]), std::max(y_[i], y_[i + 1]));
}

}  // namespace rubato
