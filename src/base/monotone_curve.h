// A smooth curve through given points that never leaves the range of two neighbours: it invents no dip and no
// bump that was not measured.
#pragma once

#include <span>
#include <vector>

namespace rubato {

/// Piecewise cubic, with the tangents limited as in Fritsch and Carlson (SIAM J. Numer. Anal. 17, 1980,
/// section 4): exact at the points, monotone between two neighbours, continuously differentiable.
class MonotoneCurve {
 public:
  /// At least one point; `x` ascending without repeats, `y` as long, everything finite.
  MonotoneCurve(std::span<const double> x, std::span<const double> y);

  /// Beyond the ends the value of the end.
  [[nodiscard]] double at(double x) const;

 private:
  std::vector<double> x_;
  std::vector<double> y_;
  std::vector<double> slope_;
};

}  // namespace rubato
