#include "govern/reference/cubic_fit.h"

#include <Eigen/QR>
#include <algorithm>

namespace rubato::govern {

CubicFit::CubicFit(std::span<const double> x, std::span<const double> y) {
  const auto ends = std::minmax_element(x.begin(), x.end());
  centre_ = (*ends.first + *ends.second) / 2;
  if (*ends.second > *ends.first) half_width_ = (*ends.second - *ends.first) / 2;
  const auto rows = static_cast<Eigen::Index>(x.size());
  const Eigen::Index columns = std::min<Eigen::Index>(rows, 4);
  Eigen::MatrixXd powers(rows, columns);
  Eigen::VectorXd values(rows);
  for (Eigen::Index r = 0; r < rows; ++r) {
    const double u = (x[static_cast<std::size_t>(r)] - centre_) / half_width_;
    values(r) = y[static_cast<std::size_t>(r)];
    powers(r, 0) = 1;
    for (Eigen::Index c = 1; c < columns; ++c) powers(r, c) = powers(r, c - 1) * u;
  }
  factors_ = powers.colPivHouseholderQr().solve(values);
}

double CubicFit::at(double x) const {
  const double u = (x - centre_) / half_width_;
  double out = 0;
  for (Eigen::Index c = factors_.size(); c-- > 0;) out = out * u + factors_(c);
  return out;
}

}  // namespace rubato::govern
