// How the residuals' process is fitted, and its intervals made as wide as the errors were.
#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "predict/trees/residual_kernel.h"
#include "predict/trees/residuals.h"

namespace rubato::predict::trees {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

double log_likelihood(const std::vector<MatrixXd>& kernels, const std::vector<VectorXd>& standardised,
                      double noise) {
  double sum = 0;
  for (std::size_t w = 0; w < kernels.size(); ++w) {
    MatrixXd covariance = (1 - noise) * kernels[w];
    covariance.diagonal().array() += noise + kResidualJitter;
    const Eigen::LLT<MatrixXd> factor(covariance);
    if (factor.info() != Eigen::Success) return -std::numeric_limits<double>::infinity();
    const VectorXd whitened = factor.matrixL().solve(standardised[w]);
    sum -= 0.5 * whitened.squaredNorm();
    for (Index i = 0; i < covariance.rows(); ++i) sum -= std::log(factor.matrixLLT()(i, i));
  }
  return sum;
}

double quantile(std::vector<double> values, double share) {
  const auto at = static_cast<std::size_t>(std::lround(share * static_cast<double>(values.size() - 1)));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

}  // namespace

ResidualModel ResidualModel::learn(std::span<const Residuals> held_out, std::size_t groups) {
  ResidualModel model;
  std::vector<Spread::Seen> time;
  std::vector<Spread::Seen> energy;
  double time_at_default = 0;
  double energy_at_default = 0;
  double covariance = 0;
  double time_square = 0;
  double energy_square = 0;
  for (const Residuals& w : held_out)
    for (Index i = 0; i < w.place.rows(); ++i) {
      if (is_default(w.place, i)) {
        time_at_default += w.time[i] * w.time[i] / static_cast<double>(held_out.size());
        energy_at_default += w.energy[i] * w.energy[i] / static_cast<double>(held_out.size());
        continue;
      }
      time.push_back({w.place.row(i).norm(), w.time[i] * w.time[i]});
      energy.push_back({w.place.row(i).norm(), w.energy[i] * w.energy[i]});
      covariance += w.time[i] * w.energy[i];
      time_square += w.time[i] * w.time[i];
      energy_square += w.energy[i] * w.energy[i];
    }
  model.time_ = Spread::fit(std::move(time), time_at_default);
  model.energy_ = Spread::fit(std::move(energy), energy_at_default);
  const double scale = std::sqrt(time_square * energy_square);
  model.correlation_ = scale > 0 ? std::clamp(covariance / scale, -0.95, 0.95) : 0.0;
  model.choose_reach(held_out);
  model.place_anchors(held_out);
  model.factorise();
  model.calibrate(held_out, groups);
  return model;
}

void ResidualModel::choose_reach(std::span<const Residuals> held_out) {
  double widest = 0;
  for (const Residuals& w : held_out) widest = std::max(widest, w.place.rowwise().norm().maxCoeff());
  if (widest <= 0) return;
  const auto standardise = [&](const Residuals& w, const VectorXd& values, const Spread& spread) {
    VectorXd out(values.size());
    for (Index i = 0; i < values.size(); ++i)
      out[i] =
          std::clamp(values[i] / spread.at(w.place.row(i).norm()), -kMostStandardised, kMostStandardised);
    return out;
  };
  std::vector<VectorXd> time;
  std::vector<VectorXd> energy;
  for (const Residuals& w : held_out) {
    time.push_back(standardise(w, w.time, time_));
    energy.push_back(standardise(w, w.energy, energy_));
  }
  double best = -std::numeric_limits<double>::infinity();
  for (const double share : {0.1, 0.2, 0.4, 0.8, 1.6}) {
    std::vector<MatrixXd> kernels;
    for (const Residuals& w : held_out) kernels.push_back(residual_kernel(w.place, w.place, share * widest));
    const auto best_noise = [&](const std::vector<VectorXd>& values) {
      std::pair<double, double> found{-std::numeric_limits<double>::infinity(), 0.3};
      for (const double noise : {0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 0.95})
        found = std::max(found, std::pair{log_likelihood(kernels, values, noise), noise});
      return found;
    };
    const auto [time_likely, time_noise] = best_noise(time);
    const auto [energy_likely, energy_noise] = best_noise(energy);
    if (time_likely + energy_likely <= best) continue;
    best = time_likely + energy_likely;
    reach_ = share * widest;
    time_.set_noise(time_noise);
    energy_.set_noise(energy_noise);
  }
}

void ResidualModel::place_anchors(std::span<const Residuals> held_out) {
  // The default first, then always the setting farthest from those taken.
  std::vector<Eigen::RowVectorXd> settings;
  for (const Residuals& w : held_out)
    for (Index i = 0; i < w.place.rows(); ++i) settings.emplace_back(w.place.row(i));
  const Index knobs = held_out.front().place.cols();
  anchors_ = MatrixXd::Zero(1, knobs);
  std::vector<double> nearest(settings.size(), std::numeric_limits<double>::infinity());
  while (anchors_.rows() < kMostResidualAnchors) {
    std::size_t farthest = 0;
    for (std::size_t i = 0; i < settings.size(); ++i) {
      nearest[i] = std::min(nearest[i], (settings[i] - anchors_.row(anchors_.rows() - 1)).squaredNorm());
      if (nearest[i] > nearest[farthest]) farthest = i;
    }
    // Nearer than a quarter of the reach they say the same.
    if (nearest[farthest] < reach_ * reach_ / 16) return;
    anchors_.conservativeResize(anchors_.rows() + 1, Eigen::NoChange);
    anchors_.row(anchors_.rows() - 1) = settings[farthest];
  }
}

void ResidualModel::calibrate(std::span<const Residuals> held_out, std::size_t groups) {
  // t's 95 % quantile over the normal's, to first order in 1/groups (Abramowitz and Stegun 26.7.5).
  const double few =
      1 + (kHalfWidth90 * kHalfWidth90 + 1) / (4 * static_cast<double>(std::max<std::size_t>(groups, 2)));
  // Errors have heavier tails than a normal: the share inside the 90 % interval is what has to be right.
  const auto factor = [&](std::vector<double> standardised) {
    if (standardised.empty()) return 1.0;
    return std::clamp(few * quantile(std::move(standardised), 0.9) / kHalfWidth90, 0.5, 2.5);
  };
  const auto [time, energy] = standardised(held_out, 0);
  time_.stretch(factor(time));
  energy_.stretch(factor(energy));
  const auto [time_probed, energy_probed] = standardised(held_out, 2);
  time_probed_ = factor(time_probed);
  energy_probed_ = factor(energy_probed);
}

std::pair<std::vector<double>, std::vector<double>> ResidualModel::standardised(
    std::span<const Residuals> held_out, std::size_t probes) const {
  std::pair<std::vector<double>, std::vector<double>> out;
  for (const Residuals& w : held_out) {
    const Index count = w.place.rows();
    std::vector<Index> known;
    for (Index i = 0; i < count; ++i)
      if (is_default(w.place, i)) known.push_back(i);
    Prediction p;
    for (std::size_t probe = 0;; ++probe) {
      Residuals measured{MatrixXd(static_cast<Index>(known.size()), w.place.cols()),
                         VectorXd(static_cast<Index>(known.size())),
                         VectorXd(static_cast<Index>(known.size()))};
      for (std::size_t k = 0; k < known.size(); ++k) {
        const auto row = static_cast<Index>(k);
        measured.place.row(row) = w.place.row(known[k]);
        measured.time[row] = w.time[known[k]];
        measured.energy[row] = w.energy[known[k]];
      }
      p = apply(w.place, VectorXd::Zero(count), VectorXd::Zero(count), measured);
      if (probe == probes || static_cast<Index>(known.size()) + 1 >= count) break;
      // The setting that is least known.
      Index least = -1;
      double most = -1;
      for (Index i = 0; i < count; ++i) {
        const double spread = p.energy_deviation(static_cast<std::size_t>(i));
        if (std::find(known.begin(), known.end(), i) != known.end() || spread <= most) continue;
        most = spread;
        least = i;
      }
      known.push_back(least);
    }
    for (Index i = 0; i < count; ++i) {
      if (std::find(known.begin(), known.end(), i) != known.end()) continue;
      const auto row = static_cast<std::size_t>(i);
      out.first.push_back(std::abs(w.time[i] - p.log_time[i]) /
                          std::hypot(p.time_deviation(row), p.measurement_noise.time));
      out.second.push_back(std::abs(w.energy[i] - p.log_energy[i]) /
                           std::hypot(p.energy_deviation(row), p.measurement_noise.energy));
    }
  }
  return out;
}

}  // namespace rubato::predict::trees
