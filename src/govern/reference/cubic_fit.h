// A cubic through measured gears, as GPOEO smooths time and energy before it chooses.
#pragma once

#include <Eigen/Core>
#include <span>

namespace rubato::govern {

/// Least squares; of lower degree where there are fewer than four points, of which there is one at least.
class CubicFit {
 public:
  CubicFit(std::span<const double> x, std::span<const double> y);
  [[nodiscard]] double at(double x) const;

 private:
  double centre_ = 0;
  double half_width_ = 1;  // x is brought to [-1, 1]: powers of gears in the hundreds would lose digits
  Eigen::VectorXd factors_;
};

}  // namespace rubato::govern
