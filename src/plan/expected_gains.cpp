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
// Of a normal this many standard deviations below zero, what is above zero is less than 1e-10 of its
// deviation.
constexpr double kNever = -6;

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
  // To first order: what makes a setting slower costs its energy, and the price of the time.
  const double by_time = 1 + delay + reached.price;
  VectorXd out(index(settings.size()));
  VectorXd own(time_.own.cols());
  for (std::size_t s = 0; s < settings.size(); ++s) {
    const Index row = index(settings[s]);
    own = (by_time * by_time * time_.own.row(row) + power_.own.row(row)).cwiseSqrt();
    double gain = 0;
    for (Index k = 0; k < weight_.size(); ++k) {
      const double log_time = time_.kept(row, k);
      const double time = std::exp(log_time);
      double objective = (1 - host_share) * std::exp(log_time + power_.kept(row, k)) + host_share * time;
      if (delay > 0) objective *= std::exp(delay * log_time);
      const double deviation = own[suspicion_of_[static_cast<std::size_t>(k)]] + kLeastDeviation;
      const double z = (1 - objective - reached.at(time - 1)) / deviation;
      if (z < kNever) continue;
      gain += weight_[k] * reached.part(time - 1) * deviation *
              (z * normal_below(z) + std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi));
    }
    out[index(s)] = gain;
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
