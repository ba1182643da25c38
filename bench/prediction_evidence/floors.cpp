#include "prediction_evidence/floors.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <vector>

namespace rubato::prediction_evidence {
namespace {

using predict::Curve;
using predict::Observed;

/// Workloads x settings: logarithms over the default's, which is one of the settings.
struct Table {
  std::vector<predict::KnobPoint> settings;
  Eigen::MatrixXd log_time;
  Eigen::MatrixXd log_energy;
  Eigen::MatrixXd defaults;  // workloads x (log power and features)
  std::vector<std::string> group;
};

/// Both as standard scores of the second.
void standardise(Table& table, Table& from) {
  const Eigen::RowVectorXd mean = from.defaults.colwise().mean();
  from.defaults.rowwise() -= mean;
  const Eigen::RowVectorXd deviation =
      (from.defaults.colwise().squaredNorm() / static_cast<double>(from.defaults.rows()))
          .cwiseSqrt()
          .array() +
      1e-9;
  from.defaults = from.defaults * deviation.cwiseInverse().asDiagonal();
  table.defaults.rowwise() -= mean;
  table.defaults = table.defaults * deviation.cwiseInverse().asDiagonal();
}

std::optional<Table> table_of(std::span<const Curve> curves) {
  if (curves.size() < 3) return std::nullopt;
  const auto n = static_cast<Eigen::Index>(curves.size());
  const std::vector<Observed>& rows = curves.front().rows;
  const auto& features = curves.front().known.features;
  Table out{.log_time = Eigen::MatrixXd(n, std::ssize(rows)),
            .log_energy = Eigen::MatrixXd(n, std::ssize(rows)),
            .defaults = Eigen::MatrixXd(n, std::ssize(features) + 1)};
  for (const Observed& row : rows) out.settings.push_back(row.at);
  for (Eigen::Index w = 0; w < n; ++w) {
    const Curve& curve = curves[static_cast<std::size_t>(w)];
    if (curve.rows.size() != rows.size() || curve.known.features.size() != features.size())
      return std::nullopt;
    for (std::size_t s = 0; s < rows.size(); ++s) {
      if (curve.rows[s].at != rows[s].at) return std::nullopt;
      const auto column = static_cast<Eigen::Index>(s);
      out.log_time(w, column) = std::log(curve.rows[s].time / curve.known.at_default.time);
      out.log_energy(w, column) = std::log(curve.rows[s].energy / curve.known.at_default.energy);
    }
    out.defaults(w, 0) = std::log(curve.known.at_default.power().value());
    Eigen::Index column = 1;
    for (const auto& [name, value] : curve.known.features) out.defaults(w, column++) = value;
    out.group.push_back(curve.group);
  }
  return out;
}

/// Of one workload by those of `from`: their weights.
Eigen::VectorXd nearness(const Table& table, Eigen::Index of, const Table& from, double reach) {
  const Eigen::VectorXd square = (from.defaults.rowwise() - table.defaults.row(of)).rowwise().squaredNorm() /
                                 static_cast<double>(from.defaults.cols());
  return (-square.array() / (2 * reach * reach)).exp() + 1e-9;
}

/// Local constant, or linear in the default's power; least absolute errors by reweighting.
double predicted(const Table& table, Eigen::Index of, const Table& from, const Eigen::VectorXd& near,
                 const Eigen::VectorXd& y, bool linear) {
  Eigen::MatrixXd x = Eigen::MatrixXd::Ones(y.size(), linear ? 2 : 1);
  if (linear) x.col(1) = from.defaults.col(0).array() - table.defaults(of, 0);
  constexpr int kReweightings = 15;
  constexpr double kLeastResidual = 1e-3;
  Eigen::VectorXd weight = near;
  Eigen::VectorXd b;
  for (int i = 0; i <= kReweightings; ++i) {
    Eigen::MatrixXd a = x.transpose() * weight.asDiagonal() * x;
    a(0, 0) += 1e-12;
    if (linear) a(1, 1) += 1e-3 * weight.sum() + 1e-12;
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

std::optional<Neighbours> neighbours(std::span<const Curve> curves, std::span<const Curve> train,
                                     bool own_group_too, double max_slowdown) {
  auto table = table_of(curves);
  auto from = train.empty() ? table : table_of(train);
  if (!table || !from || table->settings != from->settings) return std::nullopt;
  if (table->defaults.cols() != from->defaults.cols()) return std::nullopt;
  standardise(*table, *from);
  const auto saving_of = [&](const Table& of) -> Eigen::MatrixXd {
    return (of.log_time.array().exp() <= 1 + max_slowdown).select(1 - of.log_energy.array().exp(), 0.0);
  };
  const Eigen::MatrixXd energy = table->log_energy.array().exp();
  const Eigen::MatrixXd saving = saving_of(*table);
  const Eigen::MatrixXd learnt_saving = saving_of(*from);
  const double most = saving.rowwise().maxCoeff().cwiseMax(0.0).sum();
  std::optional<Neighbours> best;
  for (const double reach : {0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8, 1.2, 2.0})
    for (const bool linear : {true, false}) {
      Neighbours here;
      double rows = 0;
      for (Eigen::Index w = 0; w < energy.rows(); ++w) {
        Eigen::VectorXd near = nearness(*table, w, *from, reach);
        for (Eigen::Index i = 0; train.empty() && i < near.size(); ++i)
          if (i == w || (!own_group_too && from->group[static_cast<std::size_t>(i)] ==
                                               table->group[static_cast<std::size_t>(w)]))
            near[i] = 0;
        for (Eigen::Index s = 0; s < energy.cols(); ++s) {
          if (table->log_time(w, s) == 0 && table->log_energy(w, s) == 0) continue;  // the default
          const auto error = [&](const Eigen::MatrixXd& learnt, const Eigen::MatrixXd& truth) {
            return std::abs(std::exp(predicted(*table, w, *from, near, learnt.col(s), linear) - truth(w, s)) -
                            1);
          };
          here.time += error(from->log_time, table->log_time);
          here.energy += error(from->log_energy, table->log_energy);
          ++rows;
        }
        here.captured += saving(w, best_of(learnt_saving.transpose() * near)) / std::max(1e-9, most);
        here.regret +=
            energy(w, best_of(-from->log_energy.transpose() * near)) / energy.row(w).minCoeff() - 1;
      }
      here.time /= rows;
      here.energy /= rows;
      here.regret /= static_cast<double>(energy.rows());
      if (!best) best = here;
      best = Neighbours{std::min(best->time, here.time), std::min(best->energy, here.energy),
                        std::min(best->regret, here.regret), std::max(best->captured, here.captured)};
    }
  return best;
}

}  // namespace rubato::prediction_evidence
