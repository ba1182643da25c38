// The kernel of the residuals' process, shared by learning and asking.
#pragma once

#include <Eigen/Core>

namespace rubato::predict::trees {

/// Deviations beyond which a residual counts as no farther out: one outlier sets neither reach nor curve.
inline constexpr double kMostStandardised = 4.0;

inline constexpr double kResidualJitter = 1e-8;           // on the diagonal: a Cholesky factor must exist
inline constexpr Eigen::Index kMostResidualAnchors = 14;  // 2 x 14 shared factors at most

/// exp(-|a - b|^2 / 2 reach^2) between the rows of both.
[[nodiscard]] Eigen::MatrixXd residual_kernel(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b,
                                              double reach);
/// Row `i` of `place` is the default setting.
[[nodiscard]] bool is_default(const Eigen::MatrixXd& place, Eigen::Index i);

}  // namespace rubato::predict::trees
