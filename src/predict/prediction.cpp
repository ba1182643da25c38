#include "predict/prediction.h"

#include <cmath>

namespace rubato::predict {

namespace {

double deviation(const Eigen::MatrixXd& factor, const Eigen::VectorXd& own, std::size_t i) {
  const auto row = static_cast<Eigen::Index>(i);
  const double shared = factor.cols() > 0 ? factor.row(row).squaredNorm() : 0.0;
  return std::sqrt(shared + own[row] * own[row]);
}

}  // namespace

double Prediction::time_deviation(std::size_t i) const {
  return deviation(time_factor, time_own, i);
}

double Prediction::energy_deviation(std::size_t i) const {
  return deviation(energy_factor, energy_own, i);
}

double Prediction::edp_deviation(std::size_t i) const {
  const auto row = static_cast<Eigen::Index>(i);
  const double shared =
      time_factor.cols() > 0 ? (time_factor.row(row) + energy_factor.row(row)).squaredNorm() : 0.0;
  return std::sqrt(shared + time_own[row] * time_own[row] + energy_own[row] * energy_own[row]);
}

}  // namespace rubato::predict
