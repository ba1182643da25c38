// One quantity over the settings: a curve for all workloads, and a share of the neighbours' own.
#pragma once

#include <Eigen/Core>
#include <nlohmann/json_fwd.hpp>
#include <utility>
#include <vector>

#include "base/result.h"
#include "predict/shared_curve/knob_basis.h"
#include "predict/shared_curve/local_regression.h"
#include "predict/shared_curve/pooled_regression.h"

namespace rubato::predict::shared_curve {

class FittedCurve {
 public:
  /// The neighbours' share is the quarter with the least mean absolute error over groups left out. `rows`: at
  /// least one.
  FittedCurve(const std::vector<CurveRows>& rows, Quantity quantity);

  /// Log ratios at the settings whose hinges, and hinges with covariates (KnobBasis::expand), are given.
  [[nodiscard]] Eigen::VectorXd at(const Eigen::MatrixXd& expanded, const Eigen::MatrixXd& hinges,
                                   const Eigen::VectorXd& covariates) const;
  /// Residuals of each training curve, its group left out; empty where this was read from a state.
  [[nodiscard]] const std::vector<Eigen::VectorXd>& left_out() const { return left_out_; }

  [[nodiscard]] nlohmann::json state() const;
  /// corrupt: sizes that do not fit each other or the basis. Throws what nlohmann::json throws.
  [[nodiscard]] static Result<FittedCurve> read(const nlohmann::json& state, const KnobBasis& basis);

 private:
  FittedCurve(const std::vector<CurveRows>& rows, const PooledFit& pooled, LocalRegression local);
  FittedCurve(Eigen::VectorXd coefficients, LocalRegression local, double local_share)
      : coefficients_(std::move(coefficients)), local_(std::move(local)), local_share_(local_share) {}

  Eigen::VectorXd coefficients_;
  LocalRegression local_;
  double local_share_ = 0;
  std::vector<Eigen::VectorXd> left_out_;
};

/// Of two answers to the same rows (residuals of each curve), the share of the second, in quarters, at which
/// their mixture has the least mean absolute error, and what that mixture leaves.
struct Mixed {
  double share = 0;
  std::vector<Eigen::VectorXd> residuals;
};
[[nodiscard]] Mixed best_mixed(const std::vector<CurveRows>& rows, const std::vector<Eigen::VectorXd>& first,
                               const std::vector<Eigen::VectorXd>& second);

}  // namespace rubato::predict::shared_curve
