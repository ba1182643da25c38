// What every setting may be expected to gain, all of them and all curves at once.
#include <Eigen/Core>
#include <cmath>
#include <numbers>

#include "plan/curve_belief.h"

namespace rubato::plan {
namespace {

using Eigen::ArrayXf;
using Eigen::Index;

constexpr float kCertain = 1e-6F;  // of a logarithm: no deviation is less

struct Normal {
  ArrayXf density;
  ArrayXf below;

  /// Abramowitz and Stegun (1964), 26.2.17: off by less than 7.5e-8.
  void at(const ArrayXf& x) {
    density = (-x.square() / 2).exp() * static_cast<float>(1 / std::sqrt(2 * std::numbers::pi));
    below = (1 + 0.2316419F * x.abs()).inverse();
    below *=
        density *
        (0.319381530F +
         below * (-0.356563782F + below * (1.781477937F + below * (-1.821255978F + below * 1.330274429F))));
    // Eigen's select takes one at a time.
    for (Index i = 0; i < x.size(); ++i) below[i] = x[i] < 0 ? below[i] : 1 - below[i];
  }
};

}  // namespace

Eigen::VectorXd CurveBelief::expected_gains(double log_bound, double saved, double host_share,
                                            double delay) const {
  const Eigen::ArrayXXf own = time_.own.cast<float>().array().sqrt() + kCertain;
  const Eigen::ArrayXXf own_energy = (time_.own + power_.own).cast<float>().array().sqrt() + kCertain;
  ArrayXf out = ArrayXf::Zero(times_.rows());
  ArrayXf gain_over;
  ArrayXf z;
  ArrayXf room;
  Normal gains;
  Normal holds;
  for (Index k = 0; k < weight_.size(); ++k) {
    const Index suspicion = suspicion_of_[static_cast<std::size_t>(k)];
    const auto time = times_.col(k).array();
    const auto energy = energies_.col(k).array();
    const auto own_share = static_cast<float>(1 - host_share);
    const auto time_share = static_cast<float>(host_share);
    const float most = 1 - static_cast<float>(saved);
    if (delay > 0)
      gain_over =
          most - (own_share * energy + time_share * time.exp()) * (static_cast<float>(delay) * time).exp();
    else
      gain_over = most - own_share * energy;
    if (delay == 0 && host_share != 0) gain_over -= time_share * time.exp();
    // Expected improvement of a normal (Mockus 1978).
    const auto deviation = own_energy.col(suspicion);
    z = gain_over / deviation;
    gains.at(z);
    room = (static_cast<float>(log_bound) - time) / own.col(suspicion);
    holds.at(room);
    out += static_cast<float>(weight_[k]) * holds.below * deviation * (z * gains.below + gains.density);
  }
  return out.cast<double>().matrix();
}

Eigen::VectorXd CurveBelief::expected_gains(const Reached& reached, double delay, double host_share) const {
  // To first order: what makes a setting slower costs its energy, and the price of the time.
  const double by_time = 1 + delay + reached.price;
  const Eigen::ArrayXXf own =
      (by_time * by_time * time_.own + power_.own).cast<float>().array().sqrt() + kCertain;
  ArrayXf out = ArrayXf::Zero(times_.rows());
  ArrayXf lost;
  ArrayXf gain_over;
  ArrayXf z;
  Normal gains;
  for (Index k = 0; k < weight_.size(); ++k) {
    const auto time = times_.col(k).array();
    const auto deviation = own.col(suspicion_of_[static_cast<std::size_t>(k)]);
    lost = time.exp() - 1;
    gain_over = static_cast<float>(1 - host_share) * energies_.col(k).array();
    if (host_share != 0) gain_over += static_cast<float>(host_share) * (lost + 1);
    if (delay > 0) gain_over *= (static_cast<float>(delay) * time).exp();
    gain_over = 1 - gain_over - static_cast<float>(reached.saving) -
                static_cast<float>(reached.price) * (lost - static_cast<float>(reached.faster));
    z = gain_over / deviation;
    gains.at(z);
    for (Index i = 0; i < lost.size(); ++i)
      lost[i] = static_cast<float>(reached.part(static_cast<double>(lost[i])));
    out += static_cast<float>(weight_[k]) * lost * deviation * (z * gains.below + gains.density);
  }
  return out.cast<double>().matrix();
}

}  // namespace rubato::plan
