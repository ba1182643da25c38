// What measured settings of one workload say of its parameters: a Laplace approximation with heavy-tailed
// noise.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "predict/physical/shape.h"

namespace rubato::predict::physical {

/// Logarithms of time and power (2n, time first) over those measured at the default, the default's zeros too:
/// it is one noisy measurement like the rest.
struct Evidence {
  std::vector<Situation> at;
  Eigen::VectorXd value;   // 2n
  Eigen::VectorXd offset;  // 2n: what the GPU adds to every workload's curve there
  Eigen::VectorXd noise;   // 2n variances of one row
  Eigen::MatrixXd own;     // 2n x 2n: covariance of what this workload's curve departs from its shape
};

struct Belief {
  Parameters mean = Parameters::Zero();
  ParameterMatrix covariance = ParameterMatrix::Identity();
};

struct Posterior {
  Belief belief;
  Eigen::VectorXd fitted;     // offset included, departures not
  Eigen::MatrixXd slope;      // 2n x kParameters
  Eigen::VectorXd weight;     // 2n: below 1 where a row looks like an outlier
  Eigen::MatrixXd precision;  // 2n x 2n: inverse covariance of noise and departures
  Eigen::VectorXd departure;  // 2n: this workload's own, as estimated
};

inline constexpr double kTails = 4;  // degrees of freedom of Student's t: single rows of real sweeps are off

[[nodiscard]] Posterior posterior(const Belief& prior, const Evidence& evidence, const Parameters& start,
                                  int steps);

}  // namespace rubato::predict::physical
