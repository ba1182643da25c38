#include "experiment/sweep_fit.h"

#include <Eigen/Cholesky>
#include <algorithm>

namespace rubato::experiment {
namespace {

using Eigen::Index;

Index at(std::size_t i) {
  return static_cast<Index>(i);
}

/// A column for each stretch's baseline, one for each slope, one for each setting but the default.
struct Columns {
  std::vector<Index> slope;  // -1: the stretch has none
  Index settings = 0;        // of the second setting
  Index count = 0;
};

Columns columns_of(std::size_t settings, const std::vector<bool>& drifts) {
  Columns out;
  Index next = at(drifts.size());
  for (const bool drift : drifts) out.slope.push_back(drift ? next++ : -1);
  out.settings = next;
  out.count = next + at(settings) - 1;
  return out;
}

Eigen::MatrixXd design_of(std::span<const FitRun> runs, const Columns& columns) {
  // Positions as fractions of the longest stretch: columns of one size.
  double longest = 1;
  for (const FitRun& run : runs) longest = std::max(longest, run.position);
  Eigen::MatrixXd x = Eigen::MatrixXd::Zero(at(runs.size()), columns.count);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const FitRun& run = runs[i];
    x(at(i), at(run.stretch)) = 1;
    if (const Index slope = columns.slope[run.stretch]; slope >= 0) x(at(i), slope) = run.position / longest;
    if (run.setting > 0) x(at(i), columns.settings + at(run.setting) - 1) = 1;
  }
  return x;
}

}  // namespace

double SweepFit::variance_between(std::size_t a, std::size_t b) const {
  const std::size_t n = effects.size();
  return covariance[a * n + a] + covariance[b * n + b] - 2 * covariance[a * n + b];
}

SweepFit fit_sweep(std::span<const FitRun> runs, std::size_t settings, const std::vector<bool>& drifts) {
  const Columns columns = columns_of(settings, drifts);
  const Eigen::MatrixXd x = design_of(runs, columns);
  Eigen::VectorXd y(at(runs.size()));
  for (std::size_t i = 0; i < runs.size(); ++i) y(at(i)) = runs[i].value;
  const Eigen::LDLT<Eigen::MatrixXd> products(x.transpose() * x);
  const Eigen::VectorXd fitted = products.solve(x.transpose() * y);
  const Eigen::MatrixXd inverse = products.solve(Eigen::MatrixXd::Identity(columns.count, columns.count));

  SweepFit out{.effects = std::vector<double>(settings, 0.0),
               .covariance = std::vector<double>(settings * settings, 0.0),
               .degrees = static_cast<double>(at(runs.size()) - columns.count),
               .squares = (y - x * fitted).squaredNorm()};
  const auto column = [&columns](std::size_t setting) { return columns.settings + at(setting) - 1; };
  for (std::size_t a = 1; a < settings; ++a) {
    out.effects[a] = fitted(column(a));
    for (std::size_t b = 1; b < settings; ++b)
      out.covariance[a * settings + b] = inverse(column(a), column(b));
  }
  return out;
}

}  // namespace rubato::experiment
