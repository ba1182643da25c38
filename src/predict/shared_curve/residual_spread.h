// How a workload never seen will differ from its predicted curve: random coefficients on the hinges, and
// noise.
#pragma once

#include <Eigen/Core>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "base/result.h"
#include "predict/shared_curve/pooled_regression.h"

namespace rubato::predict::shared_curve {

/// What is left of a curve's logarithm after the prediction: hinges * b + (e_i - e_default), b normal with
/// covariance root * root', e the noise of one row. All rows of a workload share the noise of its default
/// row.
struct ResidualSpread {
  Eigen::MatrixXd root;        // w x w
  double log_noise = 0;        // log variance of one row's noise at the mean power
  double log_noise_slope = 0;  // per standard score of power: short, idle workloads scatter more
  [[nodiscard]] double noise_variance(const Eigen::VectorXd& covariates) const;
  [[nodiscard]] nlohmann::json state() const;
  [[nodiscard]] static Result<ResidualSpread> read(const nlohmann::json& state);
};

/// Expectation-maximisation for a linear mixed model (Laird and Ware 1982) on residuals of curves whose group
/// was left out, then one scale so that nine of ten of them lie inside the 90 % interval, with an allowance
/// for how few groups there are.
[[nodiscard]] ResidualSpread fit_spread(const std::vector<CurveRows>& curves,
                                        const std::vector<Eigen::VectorXd>& residuals);

/// A curve's belief: mean and covariance of the true log ratios at n settings, the default's noise included.
struct Believed {
  Eigen::VectorXd mean;    // n
  Eigen::MatrixXd factor;  // n x (w + 1)
};

struct Measured {
  Eigen::MatrixXd hinges;     // k x w
  Eigen::VectorXd predicted;  // k, as `mean` below
  Eigen::VectorXd log_ratio;  // k
  Eigen::VectorXd noise;      // k, variances
};

/// Normal conditioning on what was measured.
[[nodiscard]] Believed believe(const ResidualSpread& spread, double default_noise,
                               const Eigen::MatrixXd& hinges, const Eigen::VectorXd& mean,
                               const Measured& measured);

}  // namespace rubato::predict::shared_curve
