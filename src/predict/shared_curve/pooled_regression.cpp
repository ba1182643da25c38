#include "predict/shared_curve/pooled_regression.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

namespace rubato::predict::shared_curve {
namespace {

constexpr std::array kTrust = {0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0};
constexpr double kCurveRidge = 0.001;  // the curve itself is hardly shrunk
constexpr double kFirstRidge = 0.1;    // of the fit that weighs rows
constexpr int kReweightings = 2;
constexpr double kLeastResidual = 1e-3;

struct Gram {
  Eigen::MatrixXd products;
  Eigen::VectorXd with_values;
};

class Problem {
 public:
  Problem(const std::vector<CurveRows>& curves, Quantity quantity) : curves_(curves) {
    const Eigen::Index p = curves.front().expanded.cols();
    Eigen::Index rows = 0;
    for (const CurveRows& c : curves) rows += c.expanded.rows();
    x_.resize(rows, p);
    y_.resize(rows);
    weight_.resize(rows);
    Eigen::Index at = 0;
    for (const CurveRows& c : curves) {
      const Eigen::Index n = c.expanded.rows();
      x_.middleRows(at, n) = c.expanded;
      y_.segment(at, n) = values(c, quantity);
      weight_.segment(at, n).setConstant(c.weight / static_cast<double>(n));
      at += n;
    }
    weight_ /= weight_.mean();
    scale_ = (x_.colwise().squaredNorm() / static_cast<double>(rows)).cwiseSqrt().transpose();
    scale_.array() += 1e-9;
    x_ = x_ * scale_.cwiseInverse().asDiagonal();
  }

  PooledFit solve(bool robust) const {
    const Eigen::VectorXd w = robust ? robust_weights() : weight_;
    std::map<int, Gram> of_group;
    Eigen::Index at = 0;
    Gram all{Eigen::MatrixXd::Zero(x_.cols(), x_.cols()), Eigen::VectorXd::Zero(x_.cols())};
    for (const CurveRows& c : curves_) {
      const Eigen::Index n = c.expanded.rows();
      const Gram one = gram(at, n, w);
      auto [place, fresh] = of_group.try_emplace(c.group, one);
      if (!fresh) {
        place->second.products += one.products;
        place->second.with_values += one.with_values;
      }
      all.products += one.products;
      all.with_values += one.with_values;
      at += n;
    }
    std::optional<double> best;
    PooledFit out;
    for (const double trust : kTrust) {
      const auto residuals = left_out(all, of_group, trust);
      double error = 0;
      for (std::size_t i = 0; i < curves_.size(); ++i)
        error += curves_[i].weight * residuals[i].cwiseAbs().mean();
      if (best && error >= *best) continue;
      best = error;
      out = {solve(all, trust), residuals};
    }
    out.coefficients = out.coefficients.cwiseQuotient(scale_);
    return out;
  }

 private:
  Gram gram(Eigen::Index at, Eigen::Index n, const Eigen::VectorXd& w) const {
    const auto x = x_.middleRows(at, n);
    const Eigen::MatrixXd weighted = w.segment(at, n).asDiagonal() * x;
    return {x.transpose() * weighted, weighted.transpose() * y_.segment(at, n)};
  }

  Eigen::VectorXd solve(const Gram& g, double trust) const {
    Eigen::VectorXd ridge = Eigen::VectorXd::Constant(x_.cols(), trust);
    ridge.head(curves_.front().hinges.cols()).setConstant(kCurveRidge);
    Eigen::MatrixXd a = g.products;
    a.diagonal() += ridge * weight_.sum();
    return a.ldlt().solve(g.with_values);
  }

  std::vector<Eigen::VectorXd> left_out(const Gram& all, const std::map<int, Gram>& of_group,
                                        double trust) const {
    std::map<int, Eigen::VectorXd> without;
    for (const auto& [group, own] : of_group) {
      // With one group there is nothing else to learn from.
      const bool alone = of_group.size() == 1;
      without[group] =
          solve(alone ? all : Gram{all.products - own.products, all.with_values - own.with_values}, trust);
    }
    std::vector<Eigen::VectorXd> out;
    Eigen::Index at = 0;
    for (const CurveRows& c : curves_) {
      const Eigen::Index n = c.expanded.rows();
      out.emplace_back(y_.segment(at, n) - x_.middleRows(at, n) * without[c.group]);
      at += n;
    }
    return out;
  }

  Eigen::VectorXd robust_weights() const {
    Eigen::VectorXd w = weight_;
    for (int i = 0; i <= kReweightings; ++i) {
      const Eigen::VectorXd b = solve(gram(0, x_.rows(), w), kFirstRidge);
      if (i == kReweightings) break;
      const Eigen::VectorXd r = (y_ - x_ * b).cwiseAbs();
      std::vector<double> sorted(r.begin(), r.end());
      const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
      std::nth_element(sorted.begin(), middle, sorted.end());
      const double median = std::max(kLeastResidual, *middle);
      w = weight_.array() * median / r.array().max(median / 2);
    }
    return w;
  }

  const std::vector<CurveRows>& curves_;
  Eigen::MatrixXd x_;
  Eigen::VectorXd y_;
  Eigen::VectorXd weight_;
  Eigen::VectorXd scale_;
};

}  // namespace

void set_weights(std::vector<CurveRows>& curves) {
  std::map<int, int> members;
  for (const CurveRows& c : curves) ++members[c.group];
  double sum = 0;
  for (CurveRows& c : curves) sum += c.weight = 1 / std::sqrt(static_cast<double>(members[c.group]));
  for (CurveRows& c : curves) c.weight *= static_cast<double>(curves.size()) / sum;
}

PooledFit fit_pooled(const std::vector<CurveRows>& curves, Quantity quantity) {
  const Problem problem(curves, quantity);
  const PooledFit plain = problem.solve(false);
  PooledFit out = problem.solve(true);
  out.coefficients = (out.coefficients + plain.coefficients) / 2;
  for (std::size_t i = 0; i < curves.size(); ++i) out.left_out[i] = (out.left_out[i] + plain.left_out[i]) / 2;
  return out;
}

}  // namespace rubato::predict::shared_curve
