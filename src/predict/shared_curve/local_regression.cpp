#include "predict/shared_curve/local_regression.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/json_figures.h"
#include "base/text.h"

namespace rubato::predict::shared_curve {
namespace {

using nlohmann::json;

constexpr std::array<std::size_t, 6> kNeighbours = {1, 2, 4, 8, 16, 32};
constexpr double kAlways = 0.002;        // what the farthest workload counts: alone, all make the answer
constexpr double kRidge = 0.001;         // keeps hinges apart that few rows tell apart
constexpr double kLeastVariance = 1e-3;  // of standard scores, squared
constexpr double kLeastResidual = 5e-3;  // below which a row's error counts by its square
constexpr int kReweightings = 6;

std::vector<double> list(const Eigen::VectorXd& v) {
  return {v.begin(), v.end()};
}

Eigen::VectorXd vector_of(const json& v) {
  const auto values = v.get<std::vector<double>>();
  return Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
}

}  // namespace

LocalRegression::LocalRegression(const std::vector<CurveRows>& curves, Quantity quantity) {
  Eigen::Index rows = 0;
  for (const CurveRows& c : curves) {
    workloads_.push_back({rows, c.hinges.rows(), c.group, c.weight, c.covariates});
    rows += c.hinges.rows();
  }
  hinges_.resize(rows, curves.front().hinges.cols());
  y_.resize(rows);
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const Workload& at = workloads_[i];
    hinges_.middleRows(at.begin, at.count) = curves[i].hinges;
    y_.segment(at.begin, at.count) = values(curves[i], quantity);
  }
  scale();
  double least = std::numeric_limits<double>::infinity();
  for (const std::size_t neighbours : kNeighbours) {
    std::vector<Eigen::VectorXd> residuals;
    double error = 0;
    for (const Workload& w : workloads_) {
      const Eigen::VectorXd b = fit(w.covariates, neighbours, w.group);
      residuals.emplace_back(y_.segment(w.begin, w.count) - x_.middleRows(w.begin, w.count) * b);
      error += w.weight * residuals.back().cwiseAbs().mean();
    }
    if (error >= least) continue;
    least = error;
    neighbours_ = neighbours;
    left_out_ = std::move(residuals);
  }
}

void LocalRegression::scale() {
  column_scale_ =
      (hinges_.colwise().squaredNorm() / static_cast<double>(hinges_.rows())).cwiseSqrt().transpose();
  column_scale_.array() += 1e-9;
  x_ = hinges_ * column_scale_.cwiseInverse().asDiagonal();
}

Eigen::VectorXd LocalRegression::fit(const Eigen::VectorXd& covariates, std::size_t neighbours,
                                     std::optional<int> without) const {
  // With one group there is nothing else to learn from.
  if (std::all_of(workloads_.begin(), workloads_.end(),
                  [&](const Workload& w) { return w.group == without; }))
    without.reset();
  std::vector<double> square(workloads_.size());
  std::vector<double> sorted;
  for (std::size_t i = 0; i < workloads_.size(); ++i) {
    square[i] = (workloads_[i].covariates - covariates).squaredNorm();
    if (workloads_[i].group != without) sorted.push_back(square[i]);
  }
  const auto last = sorted.begin() + static_cast<std::ptrdiff_t>(std::min(sorted.size(), neighbours) - 1);
  std::nth_element(sorted.begin(), last, sorted.end());
  const double variance = std::max(kLeastVariance, *last);
  Eigen::VectorXd near = Eigen::VectorXd::Zero(y_.size());
  for (std::size_t i = 0; i < workloads_.size(); ++i) {
    const Workload& w = workloads_[i];
    if (w.group == without) continue;
    near.segment(w.begin, w.count)
        .setConstant((std::exp(-square[i] / (2 * variance)) + kAlways) * w.weight /
                     static_cast<double>(w.count));
  }
  Eigen::VectorXd weight = near;
  Eigen::VectorXd b;
  for (int i = 0; i <= kReweightings; ++i) {
    Eigen::MatrixXd a = x_.transpose() * weight.asDiagonal() * x_;
    a.diagonal().array() += kRidge * weight.sum();
    b = a.llt().solve(x_.transpose() * weight.cwiseProduct(y_));
    if (i < kReweightings) weight = near.array() / (y_ - x_ * b).array().abs().max(kLeastResidual);
  }
  return b;
}

Eigen::VectorXd LocalRegression::coefficients(const Eigen::VectorXd& covariates) const {
  return fit(covariates, neighbours_, std::nullopt).cwiseQuotient(column_scale_);
}

json LocalRegression::state() const {
  json workloads = json::array();
  for (const Workload& w : workloads_) {
    json rows = json::array();
    for (Eigen::Index i = w.begin; i < w.begin + w.count; ++i)
      rows.push_back(list(hinges_.row(i).transpose()));
    workloads.push_back({{"hinges", std::move(rows)},
                         {"value", list(y_.segment(w.begin, w.count))},
                         {"weight", w.weight},
                         {"covariates", list(w.covariates)}});
  }
  return {{"neighbours", neighbours_}, {"workloads", std::move(workloads)}};
}

Result<LocalRegression> LocalRegression::read(const json& state, Eigen::Index width,
                                              Eigen::Index covariates) {
  const auto corrupt = [](std::string_view why) {
    return fail(ErrorCode::corrupt, cat("the state of a shared-curve model cannot be read: ", why));
  };
  try {
    LocalRegression out;
    out.neighbours_ = whole_of<std::size_t>(state.at("neighbours"));
    if (out.neighbours_ == 0) return corrupt("it counts no neighbour");
    Eigen::Index rows = 0;
    for (const json& one : state.at("workloads")) {
      const auto count = static_cast<Eigen::Index>(one.at("hinges").size());
      out.workloads_.push_back({rows, count, static_cast<int>(out.workloads_.size()),
                                one.at("weight").get<double>(), vector_of(one.at("covariates"))});
      const Workload& read = out.workloads_.back();
      if (count == 0 || static_cast<Eigen::Index>(one.at("value").size()) != count ||
          read.covariates.size() != covariates || !(read.weight > 0))
        return corrupt("the parts of a workload do not fit each other");
      rows += count;
    }
    if (out.workloads_.empty()) return corrupt("it has no workloads");
    out.hinges_.resize(rows, width);
    out.y_.resize(rows);
    Eigen::Index row = 0;
    for (const json& one : state.at("workloads")) {
      for (const json& hinges : one.at("hinges")) {
        const Eigen::VectorXd x = vector_of(hinges);
        if (x.size() != width) return corrupt("a row has another number of hinges than its basis");
        out.hinges_.row(row++) = x.transpose();
      }
      const Eigen::VectorXd y = vector_of(one.at("value"));
      out.y_.segment(row - y.size(), y.size()) = y;
    }
    out.scale();
    return out;
  } catch (const json::exception& error) {
    return corrupt(error.what());
  }
}

}  // namespace rubato::predict::shared_curve
