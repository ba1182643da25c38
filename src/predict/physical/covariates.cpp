#include "predict/physical/covariates.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>

namespace rubato::predict::physical {
namespace {

constexpr double kFarthest = 2.5;
constexpr double kBetweenGroups = 0.35;  // share of the spread that members of a group have in common
constexpr double kLengthSquared = 0.5;   // of the smooth part, in standardised covariates
constexpr double kLeastRelevance = 0.1;
constexpr double kComplexityCost = 0.1;  // in log likelihood, of a whole share
constexpr std::array kShares = {0.0, 0.3, 1.0};
constexpr Eigen::Index kFewForCovariates = 3;

/// Absolute correlation with the parameter: what says nothing of it is nearly left out.
Eigen::VectorXd relevance_of(const Eigen::MatrixXd& z, const Eigen::VectorXd& value,
                             const Eigen::VectorXd& weight) {
  Eigen::VectorXd out = Eigen::VectorXd::Ones(z.cols());
  if (z.cols() < 2) return out;
  const Eigen::VectorXd w = weight / weight.sum();
  const Eigen::VectorXd y = value.array() - w.dot(value);
  const double y_square = w.dot(y.cwiseAbs2());
  for (Eigen::Index k = 0; k < z.cols(); ++k) {
    const Eigen::VectorXd x = z.col(k).array() - w.dot(z.col(k));
    const double r = w.dot(x.cwiseProduct(y)) / std::sqrt(y_square * w.dot(x.cwiseAbs2()) + 1e-12);
    out[k] = std::max(std::abs(r), kLeastRelevance);
  }
  return out;
}

std::vector<Eigen::Index> members(const std::vector<int>& group, int of) {
  std::vector<Eigen::Index> out;
  for (std::size_t w = 0; w < group.size(); ++w)
    if (group[w] == of) out.push_back(static_cast<Eigen::Index>(w));
  return out;
}

int groups_of(const std::vector<int>& group) {
  return group.empty() ? 0 : *std::max_element(group.begin(), group.end()) + 1;
}

}  // namespace

Standardised::Standardised(const Eigen::MatrixXd& raw) {
  mean_ = raw.colwise().mean();
  deviation_ = ((raw.rowwise() - mean_.transpose()).colwise().squaredNorm() / static_cast<double>(raw.rows()))
                   .cwiseSqrt()
                   .array() +
               1e-9;
}

Eigen::VectorXd Standardised::operator()(const Eigen::VectorXd& raw) const {
  return (raw - mean_).cwiseQuotient(deviation_).cwiseMin(kFarthest).cwiseMax(-kFarthest);
}

Regression::Regression(const Trained& trained, const Prior& prior, const Eigen::VectorXd& value,
                       const Eigen::VectorXd& variance)
    : Regression(trained, State{prior, 0, 0,
                                relevance_of(trained.covariates, value,
                                             (variance.array() + prior.spread).inverse().matrix()),
                                value, variance}) {
  if (value.size() < kFewForCovariates) return;
  std::optional<double> best;
  State chosen = state_;
  for (const double linear : kShares) {
    for (const double smooth : kShares) {
      state_.linear = linear;
      state_.smooth = smooth;
      factor();
      const double here = score() - kComplexityCost * (linear + smooth);
      if (best && here <= *best) continue;
      best = here;
      chosen = state_;
    }
  }
  state_ = chosen;
  factor();
}

Regression::Regression(const Trained& trained, State state) : trained_(trained), state_(std::move(state)) {
  factor();
}

Regression Regression::refitted(const Trained& trained, double spread, const Eigen::VectorXd& value,
                                const Eigen::VectorXd& variance) const {
  State next = state_;
  next.prior.spread = spread;
  next.value = value;
  next.variance = variance;
  return {trained, std::move(next)};
}

double Regression::covariance(const Eigen::VectorXd& a, const Eigen::VectorXd& b) const {
  const double size = state_.relevance.squaredNorm();
  const Eigen::VectorXd x = a.cwiseProduct(state_.relevance);
  const Eigen::VectorXd y = b.cwiseProduct(state_.relevance);
  const double distance = (x - y).squaredNorm() / size;
  return state_.prior.deviation * state_.prior.deviation +
         state_.prior.spread *
             (state_.linear * x.dot(y) / size + state_.smooth * std::exp(-distance / (2 * kLengthSquared)));
}

void Regression::factor() {
  const Eigen::Index n = state_.value.size();
  Eigen::MatrixXd k(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const Eigen::VectorXd a = trained_.covariates.row(i);
    for (Eigen::Index j = 0; j <= i; ++j) {
      const bool together =
          trained_.group[static_cast<std::size_t>(i)] == trained_.group[static_cast<std::size_t>(j)];
      const double own = i == j ? state_.prior.spread * (1 - kBetweenGroups) + state_.variance[i] : 0;
      k(i, j) = k(j, i) = covariance(a, trained_.covariates.row(j)) +
                          (together ? kBetweenGroups * state_.prior.spread : 0) + own;
    }
  }
  precision_ = k.llt().solve(Eigen::MatrixXd::Identity(n, n));
  pull_ = precision_ * (state_.value.array() - state_.prior.mean).matrix();
}

double Regression::mean(const Eigen::VectorXd& covariates) const {
  double out = state_.prior.mean;
  for (Eigen::Index w = 0; w < pull_.size(); ++w)
    out += covariance(covariates, trained_.covariates.row(w)) * pull_[w];
  return out;
}

double Regression::doubt(const Eigen::VectorXd& covariates) const {
  Eigen::VectorXd k(pull_.size());
  for (Eigen::Index w = 0; w < k.size(); ++w) k[w] = covariance(covariates, trained_.covariates.row(w));
  return std::max(0.0, covariance(covariates, covariates) - k.dot(precision_ * k));
}

Eigen::VectorXd Regression::without_group() const {
  Eigen::VectorXd out(state_.value.size());
  for (int g = 0; g < groups_of(trained_.group); ++g) {
    const auto in = members(trained_.group, g);
    const Eigen::MatrixXd block = precision_(in, in);
    const Eigen::VectorXd error = block.llt().solve(pull_(in).eval());
    out(in) = state_.value(in) - error;
  }
  return out;
}

/// Log density of every group's values given the others'.
double Regression::score() const {
  double sum = 0;
  for (int g = 0; g < groups_of(trained_.group); ++g) {
    const auto in = members(trained_.group, g);
    const Eigen::MatrixXd block = precision_(in, in);
    const auto root = block.llt();
    const Eigen::VectorXd error = root.solve(pull_(in).eval());
    sum += root.matrixLLT().diagonal().array().log().sum() - 0.5 * error.dot(block * error);
  }
  return sum;
}

}  // namespace rubato::predict::physical
