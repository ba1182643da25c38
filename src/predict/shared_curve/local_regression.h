// A curve from the workloads whose default runs look most alike: locally weighted regression (Cleveland 1979)
// on absolute errors, so that a few neighbours of another kind do not bend it.
#pragma once

#include <Eigen/Core>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "base/result.h"
#include "predict/shared_curve/pooled_regression.h"

namespace rubato::predict::shared_curve {

class LocalRegression {
 public:
  /// How many neighbours count is what predicts whole groups left out best, in mean absolute error. `curves`:
  /// at least one, with rows.
  LocalRegression(const std::vector<CurveRows>& curves, Quantity quantity);

  /// Coefficients of the hinges for a workload with these covariates (standard scores).
  [[nodiscard]] Eigen::VectorXd coefficients(const Eigen::VectorXd& covariates) const;
  /// Residuals of each training curve, its group left out; empty where this was read from a state.
  [[nodiscard]] const std::vector<Eigen::VectorXd>& left_out() const { return left_out_; }

  [[nodiscard]] nlohmann::json state() const;
  /// corrupt: sizes that do not fit each other or the basis (`width` hinges, `covariates` scores).
  [[nodiscard]] static Result<LocalRegression> read(const nlohmann::json& state, Eigen::Index width,
                                                    Eigen::Index covariates);

 private:
  struct Workload {
    Eigen::Index begin;  // of its rows
    Eigen::Index count;
    int group;
    double weight;
    Eigen::VectorXd covariates;
  };
  LocalRegression() = default;
  void scale();
  /// `without`: a group that is left out.
  [[nodiscard]] Eigen::VectorXd fit(const Eigen::VectorXd& covariates, std::size_t neighbours,
                                    std::optional<int> without) const;

  std::vector<Workload> workloads_;
  Eigen::MatrixXd hinges_;  // rows x hinges
  Eigen::MatrixXd x_;       // the same, each column over its root mean square
  Eigen::VectorXd y_;       // rows
  Eigen::VectorXd column_scale_;
  std::size_t neighbours_ = 0;  // the distance of the last of them is the kernel's deviation
  std::vector<Eigen::VectorXd> left_out_;
};

}  // namespace rubato::predict::shared_curve
