#include "predict/trees/residuals.h"

#include <Eigen/Cholesky>
#include <cmath>
#include <nlohmann/json.hpp>

#include "predict/trees/residual_kernel.h"

namespace rubato::predict::trees {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kSameSetting = 1e-9;  // squared distance

/// A residual many deviations out says that the deviation was taken for too small, not that the whole curve
/// is as far out: two workloads that the trees fit well at their defaults would make any third one's explode.
void temper(MatrixXd& covariance, const VectorXd& residual) {
  for (Index i = 0; i < residual.size(); ++i)
    covariance(i, i) = std::max(covariance(i, i), std::pow(residual[i] / kMostStandardised, 2));
}

}  // namespace

MatrixXd residual_kernel(const MatrixXd& a, const MatrixXd& b, double reach) {
  MatrixXd out(a.rows(), b.rows());
  for (Index i = 0; i < a.rows(); ++i)
    for (Index j = 0; j < b.rows(); ++j)
      out(i, j) = std::exp(-(a.row(i) - b.row(j)).squaredNorm() / (2 * reach * reach));
  return out;
}

bool is_default(const MatrixXd& place, Index i) {
  return place.row(i).squaredNorm() < kSameSetting;
}

void ResidualModel::factorise() {
  MatrixXd covariance = residual_kernel(anchors_, anchors_, reach_);
  covariance.diagonal().array() += kResidualJitter;
  const Eigen::LLT<MatrixXd> factor(covariance);
  whitening_ = factor.matrixU().solve(MatrixXd::Identity(anchors_.rows(), anchors_.rows()));
}

MatrixXd ResidualModel::shared(const MatrixXd& place) const {
  return residual_kernel(place, anchors_, reach_) * whitening_;
}

Prediction ResidualModel::apply(const MatrixXd& place, const VectorXd& log_time, const VectorXd& log_energy,
                                const Residuals& measured) const {
  const Index count = place.rows();
  const Index known = measured.place.rows();
  const Index rank = anchors_.rows();
  const double alone = std::sqrt(1 - correlation_ * correlation_);
  // Rows of `design`: what one standard normal each of the 2 x rank shared factors moves. Time's come first.
  const auto designs = [&](const MatrixXd& where, VectorXd& time_lone, VectorXd& energy_lone) {
    const MatrixXd basis = shared(where);
    std::pair<MatrixXd, MatrixXd> out{MatrixXd::Zero(where.rows(), 2 * rank),
                                      MatrixXd::Zero(where.rows(), 2 * rank)};
    time_lone.resize(where.rows());
    energy_lone.resize(where.rows());
    for (Index i = 0; i < where.rows(); ++i) {
      const double distance = where.row(i).norm();
      const double left_out = std::max(0.0, 1 - basis.row(i).squaredNorm());
      const double t = time_.at(distance) * std::sqrt(1 - time_.noise());
      const double e = energy_.at(distance) * std::sqrt(1 - energy_.noise());
      out.first.row(i).head(rank) = t * basis.row(i);
      out.second.row(i).head(rank) = e * correlation_ * basis.row(i);
      out.second.row(i).tail(rank) = e * alone * basis.row(i);
      time_lone[i] = std::pow(time_.at(distance), 2) * time_.noise() + t * t * left_out;
      energy_lone[i] = std::pow(energy_.at(distance), 2) * energy_.noise() + e * e * left_out;
    }
    return out;
  };
  VectorXd time_lone;
  VectorXd energy_lone;
  auto [time_design, energy_design] = designs(place, time_lone, energy_lone);
  VectorXd shift = VectorXd::Zero(2 * rank);
  MatrixXd root = MatrixXd::Identity(2 * rank, 2 * rank);
  VectorXd pull;  // what was measured, standardised: time, then energy
  MatrixXd precision;
  if (known > 0) {
    VectorXd time_known;
    VectorXd energy_known;
    const auto [time_seen, energy_seen] = designs(measured.place, time_known, energy_known);
    MatrixXd seen(2 * known, 2 * rank);
    seen << time_seen, energy_seen;
    VectorXd residual(2 * known);
    residual << measured.time, measured.energy;
    VectorXd lone(2 * known);
    lone << time_known, energy_known;
    MatrixXd covariance = seen * seen.transpose();
    covariance.diagonal() += lone;
    temper(covariance, residual);
    covariance.diagonal().array() += kLeastDeviation * kLeastDeviation;
    const Eigen::LLT<MatrixXd> factor(covariance);
    pull = factor.solve(residual);
    precision = factor.solve(MatrixXd::Identity(2 * known, 2 * known));
    shift = seen.transpose() * pull;
    const MatrixXd half = factor.matrixL().solve(seen);
    MatrixXd left = MatrixXd::Identity(2 * rank, 2 * rank) - half.transpose() * half;
    left.diagonal().array() += kResidualJitter;
    root = Eigen::LLT<MatrixXd>(left).matrixL();
  }
  Prediction out;
  out.log_time = log_time + time_design * shift;
  out.log_energy = log_energy + energy_design * shift;
  out.time_factor = time_design * root;
  out.energy_factor = energy_design * root;
  out.measurement_noise = {.time = time_.row_noise(), .energy = energy_.row_noise()};
  const bool probed = known > 1;
  const double time_wider = probed ? time_probed_ : 1.0;
  const double energy_wider = probed ? energy_probed_ : 1.0;
  out.time_factor *= time_wider;
  out.energy_factor *= energy_wider;
  out.time_own.resize(count);
  out.energy_own.resize(count);
  // What a setting has alone beyond the noise of a row is true there, so that measuring it tells of it.
  const auto own = [&](Index i, double lone, double noise, Index first, double& centre) {
    const double prior = std::max(0.0, lone - noise * noise);
    double left = prior;
    for (Index k = 0; k < known; ++k) {
      if ((place.row(i) - measured.place.row(k)).squaredNorm() > kSameSetting) continue;
      centre += prior * pull[first + k];
      left -= prior * prior * precision(first + k, first + k);
    }
    return std::sqrt(std::max(0.0, left));
  };
  for (Index i = 0; i < count; ++i) {
    out.time_own[i] = time_wider * own(i, time_lone[i], out.measurement_noise.time, 0, out.log_time[i]);
    out.energy_own[i] =
        energy_wider * own(i, energy_lone[i], out.measurement_noise.energy, known, out.log_energy[i]);
    if (!is_default(place, i)) continue;
    out.log_time[i] = out.log_energy[i] = 0;
    out.time_factor.row(i).setZero();
    out.energy_factor.row(i).setZero();
    out.time_own[i] = out.energy_own[i] = 0;
  }
  return out;
}

nlohmann::json ResidualModel::state() const {
  nlohmann::json anchors = nlohmann::json::array();
  for (Index i = 0; i < anchors_.rows(); ++i) {
    nlohmann::json row = nlohmann::json::array();
    for (Index k = 0; k < anchors_.cols(); ++k) row.push_back(anchors_(i, k));
    anchors.push_back(std::move(row));
  }
  return {{"time", time_.state()},
          {"energy", energy_.state()},
          {"reach", reach_},
          {"correlation", correlation_},
          {"probed", {{"time", time_probed_}, {"energy", energy_probed_}}},
          {"anchors", anchors}};
}

Result<ResidualModel> ResidualModel::read(const nlohmann::json& state) try {
  const auto corrupt = [] {
    return fail(ErrorCode::corrupt, "what the model says of its own errors is not possible");
  };
  ResidualModel model;
  auto time = Spread::read(state.at("time"));
  if (!time) return fail(time.error());
  auto energy = Spread::read(state.at("energy"));
  if (!energy) return fail(energy.error());
  model.time_ = std::move(*time);
  model.energy_ = std::move(*energy);
  model.reach_ = state.at("reach").get<double>();
  model.correlation_ = state.at("correlation").get<double>();
  model.time_probed_ = state.at("probed").at("time").get<double>();
  model.energy_probed_ = state.at("probed").at("energy").get<double>();
  if (!(model.time_probed_ > 0) || !(model.energy_probed_ > 0)) return corrupt();
  if (!(model.reach_ > 0) || !(std::abs(model.correlation_) < 1)) return corrupt();
  const auto rows = state.at("anchors").get<std::vector<std::vector<double>>>();
  if (rows.empty() || rows.front().empty() || rows.size() > static_cast<std::size_t>(kMostResidualAnchors))
    return corrupt();
  model.anchors_.resize(static_cast<Index>(rows.size()), static_cast<Index>(rows.front().size()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].size() != rows.front().size()) return corrupt();
    for (std::size_t k = 0; k < rows[i].size(); ++k)
      model.anchors_(static_cast<Index>(i), static_cast<Index>(k)) = rows[i][k];
  }
  if (!model.anchors_.allFinite()) return corrupt();
  model.factorise();
  return model;
} catch (const nlohmann::json::exception&) {
  return fail(ErrorCode::corrupt, "what the model says of its own errors cannot be read");
}

}  // namespace rubato::predict::trees
