// How a workload's latent parameters depend on what its default shows: a small Gaussian process per
// parameter, whose hyper-parameters are those that best predict whole groups left out.
#pragma once

#include <Eigen/Core>
#include <vector>

namespace rubato::predict::physical {

/// Workloads as rows; what is known of each at its default as columns, brought to mean 0 and deviation 1.
class Standardised {
 public:
  Standardised() = default;
  explicit Standardised(const Eigen::MatrixXd& raw);
  Standardised(Eigen::VectorXd mean, Eigen::VectorXd deviation)
      : mean_(std::move(mean)), deviation_(std::move(deviation)) {}
  /// Beyond 2.5 deviations a covariate says no more: nothing was seen out there.
  [[nodiscard]] Eigen::VectorXd operator()(const Eigen::VectorXd& raw) const;
  [[nodiscard]] const Eigen::VectorXd& mean() const { return mean_; }
  [[nodiscard]] const Eigen::VectorXd& deviation() const { return deviation_; }

 private:
  Eigen::VectorXd mean_;
  Eigen::VectorXd deviation_;
};

struct Trained {
  Eigen::MatrixXd covariates;  // W x k, standardised
  std::vector<int> group;      // W
};

class Regression {
 public:
  struct Prior {
    double mean;
    double deviation;  // of the population's mean
    double spread;     // variance between workloads
  };
  /// What is kept of it: with Trained it gives the same answers again.
  struct State {
    Prior prior;
    double linear;  // shares of the spread that follow the covariates linearly and smoothly
    double smooth;
    Eigen::VectorXd relevance;  // of each covariate
    Eigen::VectorXd value;      // W: the parameter, and the variance with which each workload tells it
    Eigen::VectorXd variance;
  };

  /// Chooses linear and smooth.
  Regression(const Trained& trained, const Prior& prior, const Eigen::VectorXd& value,
             const Eigen::VectorXd& variance);
  Regression(const Trained& trained, State state);
  /// The same hyper-parameters with other values.
  [[nodiscard]] Regression refitted(const Trained& trained, double spread, const Eigen::VectorXd& value,
                                    const Eigen::VectorXd& variance) const;

  [[nodiscard]] double mean(const Eigen::VectorXd& covariates) const;
  /// Variance of that mean.
  [[nodiscard]] double doubt(const Eigen::VectorXd& covariates) const;
  /// What each workload's mean would be without its group.
  [[nodiscard]] Eigen::VectorXd without_group() const;
  [[nodiscard]] const State& state() const { return state_; }

 private:
  void factor();
  [[nodiscard]] double covariance(const Eigen::VectorXd& a, const Eigen::VectorXd& b) const;
  [[nodiscard]] double score() const;

  Trained trained_;
  State state_;
  Eigen::MatrixXd precision_;  // W x W
  Eigen::VectorXd pull_;       // W: precision times distance from the prior mean
};

}  // namespace rubato::predict::physical
