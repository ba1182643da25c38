#include "prediction_evidence/hindsight.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <vector>

namespace rubato::prediction_evidence {
namespace {

using experiment::JudgedRow;
using experiment::Validation;

constexpr int kSteps = 10;

/// Rows x models: logarithm of what was said over what was measured.
Eigen::MatrixXd errors_of(std::span<const Validation> models, bool time) {
  std::vector<std::vector<double>> columns;
  for (const Validation& model : models) {
    columns.emplace_back();
    for (const auto& workload : model.judged)
      for (const JudgedRow& row : workload.rows)
        columns.back().push_back(time ? std::log(row.predicted_time / row.time)
                                      : std::log(row.predicted_energy / row.energy));
  }
  Eigen::MatrixXd out(std::ssize(columns.front()), std::ssize(columns));
  for (Eigen::Index m = 0; m < out.cols(); ++m)
    out.col(m) = Eigen::Map<const Eigen::VectorXd>(columns[static_cast<std::size_t>(m)].data(), out.rows());
  return out;
}

/// The least mean absolute error of any way to share out `left` steps among the models from `from` on.
double least(const Eigen::MatrixXd& errors, const Eigen::VectorXd& mixed, Eigen::Index from, int left) {
  const auto with = [&](int steps) -> Eigen::VectorXd {
    return mixed + errors.col(from) * (static_cast<double>(steps) / kSteps);
  };
  if (from + 1 == errors.cols()) return (with(left).array().exp() - 1).abs().mean();
  double out = least(errors, with(0), from + 1, left);
  for (int steps = 1; steps <= left; ++steps)
    out = std::min(out, least(errors, with(steps), from + 1, left - steps));
  return out;
}

}  // namespace

std::optional<Neighbours> hindsight(std::span<const Validation> models, bool probed,
                                    const std::optional<Neighbours>& others) {
  if (models.empty()) return std::nullopt;
  const auto mixed = [&](bool time) {
    if (probed) {
      std::vector<double> alone;
      for (const Validation& model : models)
        if (const auto error = time ? model.errors.time : model.errors.energy) alone.push_back(*error);
      return alone.empty() ? 0.0 : *std::min_element(alone.begin(), alone.end());
    }
    const Eigen::MatrixXd errors = errors_of(models, time);
    return least(errors, Eigen::VectorXd::Zero(errors.rows()), 0, kSteps);
  };
  Neighbours out{mixed(true), mixed(false), models.front().energy_regret, 0};
  for (const Validation& model : models) {
    out.regret = std::min(out.regret, model.energy_regret);
    out.captured = std::max(out.captured, model.at_bound.captured.value_or(0));
  }
  if (!others) return out;
  return Neighbours{std::min(out.time, others->time), std::min(out.energy, others->energy),
                    std::min(out.regret, others->regret), std::max(out.captured, others->captured)};
}

}  // namespace rubato::prediction_evidence
