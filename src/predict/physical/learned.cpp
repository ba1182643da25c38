#include "predict/physical/learned.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "predict/physical/prior.h"

namespace rubato::predict::physical {
namespace {

constexpr double kExplained = 0.999;           // of the variance over the settings: what the factors keep
constexpr Eigen::Index kDirectionSample = 48;  // settings on which the directions are chosen
constexpr double kStep = 0.05;                 // of the difference along a direction, in its deviations

/// Directions of the parameters' uncertainty (columns scaled by their deviation) that move the curve.
Eigen::MatrixXd directions(const Posterior& posterior, const std::vector<Situation>& at) {
  std::vector<Situation> some;
  const std::size_t stride = std::max<std::size_t>(1, at.size() / static_cast<std::size_t>(kDirectionSample));
  for (std::size_t i = 0; i < at.size(); i += stride) some.push_back(at[i]);
  const ParameterMatrix root = posterior.belief.covariance.llt().matrixL();
  const Eigen::MatrixXd moved = slopes(posterior.belief.mean, some).slope * root;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solved(moved.transpose() * moved);
  const Eigen::VectorXd strength = solved.eigenvalues().cwiseMax(0.0);
  double missing = strength.sum() * (1 - kExplained);
  Eigen::Index first = 0;
  while (first + 1 < strength.size() && missing >= strength[first]) missing -= strength[first++];
  return root * solved.eigenvectors().rightCols(strength.size() - first);
}

Eigen::MatrixXd kernel_between(const std::vector<Place>& a, const std::vector<Place>& b) {
  Eigen::MatrixXd k(static_cast<Eigen::Index>(a.size()), static_cast<Eigen::Index>(b.size()));
  for (std::size_t j = 0; j < b.size(); ++j)
    for (std::size_t i = 0; i < a.size(); ++i)
      k(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = own_kernel(a[i], b[j]);
  return k;
}

}  // namespace

Learned Learned::nothing() {
  Learned out;
  out.spread = starting_prior().deviation.cwiseAbs2().asDiagonal();
  out.widening = {{1.0, 1.0}};
  return out;
}

Learned::Expectation Learned::expected(const Known& known) const {
  Expectation out{.belief = {starting_prior().mean, spread}};
  if (regressions.empty()) return out;
  const Eigen::VectorXd z = standardised(covariates_of(known, schema, standardised.mean()));
  for (Eigen::Index k = 0; k < kParameters; ++k) {
    const Regression& regression = regressions[static_cast<std::size_t>(k)];
    out.belief.mean[k] = regression.mean(z);
    out.belief.covariance(k, k) += regression.doubt(z);
  }
  if (noisiness) out.noise = std::exp(noisiness->mean(z));
  return out;
}

Evidence evidence_of(const Learned& learned, const Measured& measured) {
  const auto n = static_cast<Eigen::Index>(measured.places.size());
  Evidence out{.at = {},
               .value = measured.value,
               .offset = Eigen::VectorXd(2 * n),
               .noise = measured.noise,
               .own = Eigen::MatrixXd::Zero(2 * n, 2 * n)};
  for (Eigen::Index i = 0; i < n; ++i) {
    const auto row = static_cast<std::size_t>(i);
    const Shift shift = learned.pattern.at(measured.places[row]);
    out.at.push_back(shifted(measured.situations[row], shift));
    out.offset[i] = shift[0];
    out.offset[n + i] = shift[1];
  }
  const Eigen::MatrixXd kernel = kernel_between(measured.places, measured.places);
  out.own.topLeftCorner(n, n) = learned.departure[0] * kernel;
  out.own.bottomRightCorner(n, n) = learned.departure[1] * kernel;
  return out;
}

Answer answer(const Learned& learned, const Belief& before, const Measured& measured, const Asked& wanted) {
  const Evidence evidence = evidence_of(learned, measured);
  const Posterior seen = posterior(before, evidence, before.mean, 8);
  const auto n = static_cast<Eigen::Index>(wanted.places.size());
  const auto m = static_cast<Eigen::Index>(measured.places.size());
  std::vector<Situation> at;
  Eigen::VectorXd offset(2 * n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const auto row = static_cast<std::size_t>(i);
    const Shift shift = learned.pattern.at(wanted.places[row]);
    at.push_back(shifted(wanted.situations[row], shift));
    offset[i] = shift[0];
    offset[n + i] = shift[1];
  }
  const Eigen::MatrixXd kernel = kernel_between(wanted.places, measured.places);
  const Eigen::VectorXd pull = seen.precision * (evidence.value - seen.fitted);
  const Eigen::VectorXd curve = responses(seen.belief.mean, at);
  Eigen::VectorXd centre = curve + offset;
  centre.head(n) += learned.departure[0] * kernel * pull.head(m);
  centre.tail(n) += learned.departure[1] * kernel * pull.tail(m);

  // What the parameters' uncertainty does there, less what departures at the measured rows would absorb of
  // it.
  const Eigen::MatrixXd along = directions(seen, at);
  Eigen::MatrixXd factor(2 * n, along.cols());
  for (Eigen::Index k = 0; k < along.cols(); ++k) {
    const Parameters moved = seen.belief.mean + kStep * along.col(k);
    factor.col(k) = (responses(moved, at) - curve) / kStep;
  }
  const Eigen::MatrixXd absorbed = seen.precision * seen.slope * along;
  factor.topRows(n) -= learned.departure[0] * kernel * absorbed.topRows(m);
  factor.bottomRows(n) -= learned.departure[1] * kernel * absorbed.bottomRows(m);
  Eigen::VectorXd own_time(n);
  Eigen::VectorXd own_power(n);
  const Eigen::MatrixXd time_precision = seen.precision.topLeftCorner(m, m);
  const Eigen::MatrixXd power_precision = seen.precision.bottomRightCorner(m, m);
  const auto left = [](double variance, double explained) {
    return variance * std::max(0.0, 1 - variance * explained);
  };
  const Eigen::VectorXd time_known = (kernel * time_precision).cwiseProduct(kernel).rowwise().sum();
  const Eigen::VectorXd power_known = (kernel * power_precision).cwiseProduct(kernel).rowwise().sum();
  for (Eigen::Index i = 0; i < n; ++i) {
    own_time[i] = left(learned.departure[0], time_known[i]);
    own_power[i] = left(learned.departure[1], power_known[i]);
  }
  return {.log_time = centre.head(n),
          .log_energy = centre.head(n) + centre.tail(n),
          .time_factor = factor.topRows(n),
          .energy_factor = factor.topRows(n) + factor.bottomRows(n),
          .time_own = own_time.cwiseSqrt(),
          .energy_own = (own_time + own_power).cwiseSqrt()};
}

}  // namespace rubato::predict::physical
