#include "plan/stretch_evidence.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace rubato::plan {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// What a drawn curve is wrong by is smooth over a quarter of the knob (a factor of 1.28), with kinks at the
// scale of a few hardware steps, as measured curves have them (a limiter's steps, a kernel that changes).
constexpr double kSmooth = 0.25;
constexpr double kKink = 0.04;
constexpr double kKinkShare = 0.25;
// The job itself drifts (temperature, data, neighbours) over minutes, and settles in its first few (caches,
// data loaders, the heat of the chip), so that what a run looks like at first says less of what it looks like
// later.
constexpr double kDriftSeconds = 200;
constexpr double kMoment = 0.005;  // of it: no stretch counts as shorter
constexpr std::array kWarmupSeconds = {60.0, 150.0};
constexpr double kLevelVariance = 1;  // of the logarithm at the found setting: nothing is known beforehand

double matern(double distance, double length) {
  const double x = std::sqrt(3.0) * distance / length;
  return (1 + x) * std::exp(-x);
}

}  // namespace

double alike(const MatrixXd& places, Index a, Index b) {
  const double distance = (places.row(a) - places.row(b)).norm();
  return (1 - kKinkShare) * matern(distance, kSmooth) + kKinkShare * matern(distance, kKink);
}

// Of an Ornstein-Uhlenbeck process: its correlation between two moments, integrated over both.
double drift_together(const MeasuredStretch& a, const MeasuredStretch& b) {
  const double apart = std::abs((a.when - b.when).value()) / kDriftSeconds;
  const double first = std::max(a.span.value() / kDriftSeconds, kMoment);
  const double second = std::max(b.span.value() / kDriftSeconds, kMoment);
  // Its second integral, from zero on.
  const auto twice = [](double x) { return std::expm1(-std::abs(x)) + std::abs(x); };
  const double outer = (first + second) / 2;
  const double inner = (first - second) / 2;
  return (twice(apart + outer) + twice(apart - outer) - twice(apart + inner) - twice(apart - inner)) /
         (first * second);
}

SeenStretches seen_stretches(std::span<const MeasuredStretch> seen, const MatrixXd& places) {
  const auto n = static_cast<Index>(seen.size());
  SeenStretches out{.places = {},
                    .at = {},
                    .alike = {},
                    .same_era = MatrixXd::Zero(n, n),
                    .drifted = MatrixXd::Zero(n, n),
                    .warming = MatrixXd::Zero(n, n)};
  for (const MeasuredStretch& s : seen) {
    const auto known = std::find(out.places.begin(), out.places.end(), static_cast<Index>(s.at));
    out.at.push_back(known - out.places.begin());
    if (known == out.places.end()) out.places.push_back(static_cast<Index>(s.at));
  }
  out.alike.resize(places.rows(), static_cast<Index>(out.places.size()));
  for (Index p = 0; p < out.alike.cols(); ++p)
    for (Index g = 0; g < out.alike.rows(); ++g)
      out.alike(g, p) = alike(places, g, out.places[static_cast<std::size_t>(p)]);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) {
      const MeasuredStretch& one = seen[static_cast<std::size_t>(i)];
      const MeasuredStretch& other = seen[static_cast<std::size_t>(j)];
      if (one.era != other.era) continue;
      out.same_era(i, j) = 1;
      out.drifted(i, j) =
          one.drifted && other.drifted ? 1 + (i == j ? *one.drifted : 0.0) : drift_together(one, other);
      for (const double seconds : kWarmupSeconds)
        out.warming(i, j) += std::exp(-(one.when + other.when).value() / seconds);
    }
  return out;
}

SeenValues seen_values(std::span<const MeasuredStretch> seen, const SeenStretches& stretches,
                       double MeasuredStretch::*log_value, double MeasuredStretch::*variance,
                       const MatrixXd& curves) {
  const auto n = static_cast<Index>(seen.size());
  SeenValues out{.value = VectorXd(n), .variance = VectorXd(n), .mean = {}, .off = {}};
  for (Index i = 0; i < n; ++i) {
    const MeasuredStretch& s = seen[static_cast<std::size_t>(i)];
    out.value[i] = s.*log_value - seen.front().*log_value;
    out.variance[i] = s.*variance;
  }
  out.off = curves(stretches.places, Eigen::all);
  out.mean = out.off.rowwise().mean();
  out.off.colwise() -= out.mean;
  return out;
}

Explained explain(const VectorXd& scale, const SeenStretches& stretches, const SeenValues& values,
                  const Unrest& unrest, double misfit) {
  const Index n = values.value.size();
  const Index places = values.mean.size();
  Explained out{.precision = MatrixXd::Zero(places, places),
                .told = VectorXd::Zero(places),
                .score = VectorXd::Zero(values.off.cols()),
                .misfit = misfit};
  if (n == 0) return out;
  // Only differences count beside a level that nothing is known of.
  MatrixXd covariance = kLevelVariance * stretches.same_era +
                        unrest.drift * unrest.drift * stretches.drifted +
                        unrest.warm_up * unrest.warm_up * stretches.warming;
  covariance.diagonal() += values.variance;
  const VectorXd wrong = misfit * scale;
  MatrixXd whitened = MatrixXd::Zero(n, places + 1);  // which place, and how far over the mean curve
  for (Index i = 0; i < n; ++i) {
    const Index a = stretches.at[static_cast<std::size_t>(i)];
    const double here = wrong[stretches.places[static_cast<std::size_t>(a)]];
    whitened(i, a) = 1;
    whitened(i, places) = values.value[i] - values.mean[a];
    for (Index j = 0; j < n; ++j) {
      const Index other =
          stretches.places[static_cast<std::size_t>(stretches.at[static_cast<std::size_t>(j)])];
      covariance(i, j) += here * wrong[other] * stretches.alike(other, a);
    }
  }
  const Eigen::LLT<MatrixXd> factor = covariance.llt();
  if (factor.info() != Eigen::Success) {
    out.score.setConstant(-std::numeric_limits<double>::infinity());
    return out;
  }
  double spread = 0;
  for (Index i = 0; i < n; ++i) spread += std::log(factor.matrixLLT()(i, i));
  factor.matrixL().solveInPlace(whitened);
  const MatrixXd places_told = whitened.leftCols(places);
  out.precision = places_told.transpose() * places_told;
  out.told = places_told.transpose() * whitened.col(places);
  out.score = (values.off.transpose() * out.told).array() -
              0.5 * values.off.cwiseProduct(out.precision * values.off).colwise().sum().transpose().array() -
              0.5 * whitened.col(places).squaredNorm() - spread;
  return out;
}

}  // namespace rubato::plan
