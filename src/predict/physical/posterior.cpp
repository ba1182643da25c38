#include "predict/physical/posterior.h"

#include <Eigen/Cholesky>
#include <algorithm>

namespace rubato::predict::physical {
namespace {

Eigen::MatrixXd inverse(const Eigen::MatrixXd& m) {
  return m.llt().solve(Eigen::MatrixXd::Identity(m.rows(), m.cols()));
}

Eigen::MatrixXd precision_of(const Evidence& e, const Eigen::VectorXd& weight) {
  Eigen::MatrixXd v = e.own;
  v.diagonal() += e.noise.cwiseQuotient(weight);
  return inverse(v);
}

double cost(const Eigen::VectorXd& misfit, const Eigen::MatrixXd& precision, const Parameters& off,
            const ParameterMatrix& prior_precision) {
  return 0.5 * misfit.dot(precision * misfit) + 0.5 * off.dot(prior_precision * off);
}

}  // namespace

Posterior posterior(const Belief& prior, const Evidence& e, const Parameters& start, int steps) {
  const ParameterMatrix prior_precision = prior.covariance.llt().solve(ParameterMatrix::Identity());
  Parameters at = start;
  Slopes here = slopes(at, e.at);
  Eigen::VectorXd weight = Eigen::VectorXd::Ones(e.value.size());
  Eigen::MatrixXd precision = precision_of(e, weight);
  double damping = 1e-2;
  for (int step = 0; step < steps; ++step) {
    const Eigen::VectorXd misfit = e.value - e.offset - here.value;
    const Eigen::VectorXd unexplained = misfit - e.own * (precision * misfit);
    weight = (kTails + 1) / (kTails + unexplained.array().square() / e.noise.array());
    precision = precision_of(e, weight);
    const Eigen::MatrixXd weighted = here.slope.transpose() * precision;
    ParameterMatrix curvature = weighted * here.slope + prior_precision;
    const Parameters descent = weighted * misfit - prior_precision * (at - prior.mean);
    const double before = cost(misfit, precision, at - prior.mean, prior_precision);
    curvature.diagonal() *= 1 + damping;
    const Parameters move = curvature.llt().solve(descent).cwiseMin(1.0).cwiseMax(-1.0);
    Slopes there = slopes(at + move, e.at);
    const double after =
        cost(e.value - e.offset - there.value, precision, at + move - prior.mean, prior_precision);
    if (after <= before) {
      at += move;
      here = std::move(there);
      damping *= 0.3;
    } else {
      damping *= 8;
    }
  }
  const Eigen::VectorXd misfit = e.value - e.offset - here.value;
  const ParameterMatrix curvature = here.slope.transpose() * precision * here.slope + prior_precision;
  return {.belief = {at, curvature.llt().solve(ParameterMatrix::Identity())},
          .fitted = here.value + e.offset,
          .slope = std::move(here.slope),
          .weight = std::move(weight),
          .precision = precision,
          .departure = e.own * (precision * misfit)};
}

}  // namespace rubato::predict::physical
