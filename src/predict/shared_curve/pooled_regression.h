// One linear curve for all workloads, fitted so that groups left out are predicted best.
#pragma once

#include <Eigen/Core>
#include <vector>

namespace rubato::predict::shared_curve {

/// One training workload, without its default row.
struct CurveRows {
  Eigen::MatrixXd hinges;      // n x w
  Eigen::MatrixXd expanded;    // n x p; the first w columns are the hinges
  Eigen::VectorXd log_time;    // n, over the default's
  Eigen::VectorXd log_energy;  // n
  Eigen::VectorXd covariates;
  int group = 0;
  double weight = 1;  // of the whole curve; workloads of a large group count less
};

enum class Quantity { time, energy, power };

/// Logarithms over the default's, n.
[[nodiscard]] inline Eigen::VectorXd values(const CurveRows& curve, Quantity quantity) {
  if (quantity == Quantity::power) return curve.log_energy - curve.log_time;
  return quantity == Quantity::time ? curve.log_time : curve.log_energy;
}

/// Members of a group are alike: each adds with the root of its number.
void set_weights(std::vector<CurveRows>& curves);

struct PooledFit {
  Eigen::VectorXd coefficients;           // p
  std::vector<Eigen::VectorXd> left_out;  // residuals of each curve, its group left out of the fit
};

/// Half ridge regression, half its robust version (iteratively reweighted absolute errors); how far the
/// covariates are trusted is chosen by the mean absolute error over groups left out.
[[nodiscard]] PooledFit fit_pooled(const std::vector<CurveRows>& curves, Quantity quantity);

}  // namespace rubato::predict::shared_curve
