// Of settings, over all curves that may be the job's: what one more is expected to gain (expected
// improvement, Mockus 1978, of each curve, whose own error is normal), and how surely it holds a bound.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "plan/curve_belief.h"

namespace rubato::plan {
namespace {

using Eigen::ArrayXd;
using Eigen::ArrayXXd;
using Eigen::Index;
using Eigen::VectorXd;

constexpr double kLeastDeviation = 1e-9;  // so that nothing divides by zero

double normal_below(double x) {
  return 0.5 * std::erfc(-x * std::sqrt(0.5));
}

/// Of normals with these means and deviations, the mean of what is above zero.
ArrayXd above_zero(const ArrayXd& mean, const ArrayXd& deviation) {
  const ArrayXd z = mean / deviation;
  return deviation *
         (z * z.unaryExpr(&normal_below) + (-z.square() / 2).exp() / std::sqrt(2 * std::numbers::pi));
}

}  // namespace

VectorXd CurveBelief::expected_gains(std::span<const std::size_t> settings, double log_bound, double saved,
                                     double host_share) const {
  const std::vector<Index> rows(settings.begin(), settings.end());
  const ArrayXXd own = time_.own(rows, Eigen::all).array().sqrt() + kLeastDeviation;
  const ArrayXXd own_energy = (time_.own + power_.own)(rows, Eigen::all).array().sqrt() + kLeastDeviation;
  VectorXd out = VectorXd::Zero(index(rows.size()));
  for (Index k = 0; k < weight_.size(); ++k) {
    const Index suspicion = suspicion_of_[static_cast<std::size_t>(k)];
    const ArrayXd time = time_.kept(rows, k).array();
    ArrayXd saving = 1 - (1 - host_share) * (time + power_.kept(rows, k).array()).exp();
    if (host_share > 0) saving -= host_share * time.exp();
    out.array() += weight_[k] * ((log_bound - time) / own.col(suspicion)).unaryExpr(&normal_below) *
                   above_zero(saving - saved, own_energy.col(suspicion));
  }
  return out;
}

VectorXd CurveBelief::expected_gains(std::span<const std::size_t> settings, const Reached& reached,
                                     double delay, double host_share) const {
  const std::vector<Index> rows(settings.begin(), settings.end());
  // To first order: what makes a setting slower costs its energy, and the price of the time.
  const double by_time = 1 + delay + reached.price;
  const ArrayXXd own =
      (by_time * by_time * time_.own + power_.own)(rows, Eigen::all).array().sqrt() + kLeastDeviation;
  VectorXd out = VectorXd::Zero(index(rows.size()));
  for (Index k = 0; k < weight_.size(); ++k) {
    const ArrayXd log_time = time_.kept(rows, k).array();
    const ArrayXd time = log_time.exp();
    ArrayXd objective =
        (1 - host_share) * (log_time + power_.kept(rows, k).array()).exp() + host_share * time;
    if (delay > 0) objective *= (delay * log_time).exp();
    const ArrayXd above = 1 - objective - (reached.saving + reached.price * (time - 1 - reached.faster));
    const ArrayXd part = (time - 1).unaryExpr([&](double lost) { return reached.part(lost); });
    out.array() += weight_[k] * part * above_zero(above, own.col(suspicion_of_[static_cast<std::size_t>(k)]));
  }
  return out;
}

double CurveBelief::holds(std::size_t i, double log_bound) const {
  const Index row = index(i);
  double sum = 0;
  for (Index k = 0; k < weight_.size(); ++k) sum += weight_[k] * normal_below(inside(row, k, log_bound));
  return sum;
}

bool CurveBelief::holds_with(std::size_t i, double log_bound, double probability) const {
  // Most settings are refused by what no normal distribution exceeds, in whole standard deviations.
  constexpr std::array kMost = {0.5, 0.16, 0.023, 0.0014, 0.00004};
  const Index row = index(i);
  double most = 0;
  for (Index k = 0; k < weight_.size(); ++k) {
    const double z = inside(row, k, log_bound);
    most +=
        weight_[k] *
        (z >= 0 ? 1 : kMost[static_cast<std::size_t>(std::min(-z, static_cast<double>(kMost.size() - 1)))]);
  }
  return most >= probability && holds(i, log_bound) >= probability;
}

}  // namespace rubato::plan
