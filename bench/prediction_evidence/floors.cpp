#include "prediction_evidence/floors.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <vector>

#include "experiment/noise_floor.h"

namespace rubato::prediction_evidence {
namespace {

using predict::Curve;
using predict::Observed;

/// Workloads x settings: logarithms over the default's, which is one of the settings.
struct Table {
  Eigen::MatrixXd log_time;
  Eigen::MatrixXd log_energy;
  Eigen::MatrixXd defaults;  // workloads x (log power and features), standard scores
};

Eigen::MatrixXd standardised(Eigen::MatrixXd raw) {
  const Eigen::RowVectorXd mean = raw.colwise().mean();
  raw.rowwise() -= mean;
  const Eigen::RowVectorXd deviation =
      (raw.colwise().squaredNorm() / static_cast<double>(raw.rows())).cwiseSqrt().array() + 1e-9;
  return raw * deviation.cwiseInverse().asDiagonal();
}

std::optional<Table> table_of(std::span<const Curve> curves) {
  if (curves.size() < 3) return std::nullopt;
  const auto n = static_cast<Eigen::Index>(curves.size());
  const std::vector<Observed>& settings = curves.front().rows;
  const auto& features = curves.front().known.features;
  Table out{.log_time = Eigen::MatrixXd(n, std::ssize(settings)),
            .log_energy = Eigen::MatrixXd(n, std::ssize(settings)),
            .defaults = Eigen::MatrixXd(n, std::ssize(features) + 1)};
  for (Eigen::Index w = 0; w < n; ++w) {
    const Curve& curve = curves[static_cast<std::size_t>(w)];
    if (curve.rows.size() != settings.size() || curve.known.features.size() != features.size())
      return std::nullopt;
    for (std::size_t s = 0; s < settings.size(); ++s) {
      if (curve.rows[s].at != settings[s].at) return std::nullopt;
      const auto column = static_cast<Eigen::Index>(s);
      out.log_time(w, column) = std::log(curve.rows[s].time / curve.known.at_default.time);
      out.log_energy(w, column) = std::log(curve.rows[s].energy / curve.known.at_default.energy);
    }
    out.defaults(w, 0) = std::log(curve.known.at_default.power().value());
    Eigen::Index column = 1;
    for (const auto& [name, value] : curve.known.features) out.defaults(w, column++) = value;
  }
  out.defaults = standardised(std::move(out.defaults));
  return out;
}

/// Of one workload by the others: their weights, itself without any.
Eigen::VectorXd nearness(const Table& table, Eigen::Index of, double reach) {
  const Eigen::VectorXd square = (table.defaults.rowwise() - table.defaults.row(of)).rowwise().squaredNorm() /
                                 static_cast<double>(table.defaults.cols());
  Eigen::VectorXd out = (-square.array() / (2 * reach * reach)).exp() + 1e-9;
  out[of] = 0;
  return out;
}

/// Local linear in the default's power, least absolute errors by reweighting.
double predicted(const Table& table, const Eigen::VectorXd& near, Eigen::Index of, const Eigen::VectorXd& y) {
  Eigen::MatrixX2d x(y.size(), 2);
  x.col(0).setOnes();
  x.col(1) = table.defaults.col(0).array() - table.defaults(of, 0);
  constexpr int kReweightings = 15;
  constexpr double kLeastResidual = 1e-3;
  Eigen::VectorXd weight = near;
  Eigen::Vector2d b = Eigen::Vector2d::Zero();
  for (int i = 0; i <= kReweightings; ++i) {
    Eigen::Matrix2d a = x.transpose() * weight.asDiagonal() * x;
    a(0, 0) += 1e-12;
    a(1, 1) += 1e-3 * weight.sum() + 1e-12;
    b = a.llt().solve(x.transpose() * weight.cwiseProduct(y));
    weight = near.array() / (y - x * b).array().abs().max(kLeastResidual);
  }
  return b[0];
}

Eigen::Index best_of(const Eigen::VectorXd& worth) {
  Eigen::Index out = 0;
  worth.maxCoeff(&out);
  return out;
}

}  // namespace

ChoiceFloor floor_of_choices(std::span<const Curve> curves, double max_slowdown) {
  double regret = 0;
  double saved = 0;
  double most = 0;
  for (const Curve& curve : curves) {
    const auto guesses = experiment::floor_guesses(curve);
    const auto energy = [&](std::size_t i) { return curve.rows[i].energy / curve.known.at_default.energy; };
    const auto holds = [&](std::size_t i) {
      return curve.rows[i].time / curve.known.at_default.time <= 1 + max_slowdown;
    };
    double least = 1;
    double saving = 0;
    double free_guess = 0;  // of log energy; staying is one of the choices
    double bound_guess = 0;
    double taken = 1;
    double taken_inside = 0;
    for (std::size_t i = 0; i < curve.rows.size(); ++i) {
      least = std::min(least, energy(i));
      if (holds(i)) saving = std::max(saving, 1 - energy(i));
      if (!guesses[i]) continue;
      if (guesses[i]->log_energy < free_guess) {
        free_guess = guesses[i]->log_energy;
        taken = energy(i);
      }
      if (guesses[i]->log_time <= std::log1p(max_slowdown) && guesses[i]->log_energy < bound_guess) {
        bound_guess = guesses[i]->log_energy;
        taken_inside = holds(i) ? 1 - energy(i) : 0;
      }
    }
    regret += taken / least - 1;
    saved += taken_inside;
    most += saving;
  }
  ChoiceFloor out{.regret = curves.empty() ? 0 : regret / static_cast<double>(curves.size()), .captured = {}};
  if (most > 0) out.captured = saved / most;
  return out;
}

std::optional<DefaultFloor> floor_of_defaults(std::span<const Curve> curves, double max_slowdown) {
  const auto table = table_of(curves);
  if (!table) return std::nullopt;
  const Eigen::Index n = table->log_time.rows();
  const Eigen::MatrixXd energy = table->log_energy.array().exp();
  const Eigen::MatrixXd saving =
      (table->log_time.array().exp() <= 1 + max_slowdown).select(1 - energy.array(), 0.0);
  const double most = saving.rowwise().maxCoeff().cwiseMax(0.0).sum();
  std::optional<DefaultFloor> best;
  for (const double reach : {0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8, 1.2, 2.0}) {
    DefaultFloor here;
    double rows = 0;
    for (Eigen::Index w = 0; w < n; ++w) {
      const Eigen::VectorXd near = nearness(*table, w, reach);
      for (Eigen::Index s = 0; s < energy.cols(); ++s) {
        if (table->log_time(w, s) == 0 && table->log_energy(w, s) == 0) continue;  // the default
        const auto error = [&](const Eigen::MatrixXd& log_values) {
          return std::abs(std::exp(predicted(*table, near, w, log_values.col(s)) - log_values(w, s)) - 1);
        };
        here.time += error(table->log_time);
        here.energy += error(table->log_energy);
        ++rows;
      }
      here.captured += saving(w, best_of(saving.transpose() * near)) / std::max(1e-9, most);
      here.regret += energy(w, best_of(-table->log_energy.transpose() * near)) / energy.row(w).minCoeff() - 1;
    }
    here.time /= rows;
    here.energy /= rows;
    here.regret /= static_cast<double>(n);
    if (!best) best = here;
    best = DefaultFloor{std::min(best->time, here.time), std::min(best->energy, here.energy),
                        std::min(best->regret, here.regret), std::max(best->captured, here.captured)};
  }
  return best;
}

}  // namespace rubato::prediction_evidence
