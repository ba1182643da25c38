#include "predict/shared_curve/residual_spread.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.h"
#include "predict/prediction.h"

namespace rubato::predict::shared_curve {
namespace {

using nlohmann::json;

constexpr int kRounds = 30;
constexpr double kPriorCurves = 2;   // how many curves the prior covariance counts as
constexpr double kPriorShare = 0.1;  // of the mean variance of a coefficient, so that none dies out
constexpr double kNoiseFreedom = 4;  // how firmly a workload's noise is held to the others'
constexpr double kSlopeRidge = 5;
constexpr double kFewGroups = 0.35;  // the quantile is taken that much of 1/groups higher
constexpr double kLeastVariance = 1e-10;
constexpr double kLeastScale = 0.7;
constexpr double kMostScale = 3.0;

Eigen::MatrixXd symmetric_root(const Eigen::MatrixXd& covariance) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solved(covariance);
  return solved.eigenvectors() * solved.eigenvalues().cwiseMax(0.0).cwiseSqrt().asDiagonal();
}

double power_score(const Eigen::VectorXd& covariates) {
  return covariates.size() > 0 ? covariates[0] : 0.0;
}

class Fit {
 public:
  Fit(const std::vector<CurveRows>& curves, const std::vector<Eigen::VectorXd>& residuals)
      : curves_(curves), residuals_(residuals) {
    const Eigen::Index w = curves.front().hinges.cols();
    Eigen::RowVectorXd squares = Eigen::RowVectorXd::Zero(w);
    double total = 0;
    Eigen::Index rows = 0;
    for (std::size_t i = 0; i < curves.size(); ++i) {
      squares += curves[i].hinges.colwise().squaredNorm();
      total += residuals[i].squaredNorm();
      rows += residuals[i].size();
    }
    const auto n = static_cast<double>(rows);
    scale_ = ((squares / n).cwiseSqrt().array() + 1e-9).matrix().transpose();
    for (const CurveRows& c : curves) hinges_.emplace_back(c.hinges * scale_.cwiseInverse().asDiagonal());
    total = std::max(kLeastVariance, total / n);
    covariance_ = Eigen::MatrixXd::Identity(w, w) * total / static_cast<double>(w);
    level_ = std::log(total / 10);
    noise_.assign(curves.size(), total / 10);
  }

  ResidualSpread run() {
    for (int round = 0; round < kRounds; ++round) step(round > 3);
    const Scales scales = calibration();
    return {scale_.cwiseInverse().asDiagonal() * symmetric_root(covariance_) * scales.curve,
            level_ + 2 * std::log(scales.noise), slope_};
  }

 private:
  void step(bool with_slope) {
    const Eigen::Index w = covariance_.rows();
    Eigen::MatrixXd moment = Eigen::MatrixXd::Zero(w, w);
    std::vector<double> scatter(curves_.size());
    double weights = 0;
    for (std::size_t i = 0; i < curves_.size(); ++i) {
      const Eigen::MatrixXd& h = hinges_[i];
      const Eigen::VectorXd& r = residuals_[i];
      const Eigen::Index n = r.size();
      const auto rows = static_cast<double>(n);
      Eigen::MatrixXd noise = Eigen::MatrixXd::Constant(n, n, noise_[i]);
      noise.diagonal().array() += noise_[i];
      const Eigen::MatrixXd half = h * covariance_;
      const Eigen::MatrixXd inverse =
          (half * h.transpose() + noise).llt().solve(Eigen::MatrixXd::Identity(n, n));
      const Eigen::VectorXd pull = inverse * r;
      const Eigen::VectorXd b = half.transpose() * pull;
      moment += curves_[i].weight * (b * b.transpose() + covariance_ - half.transpose() * inverse * half);
      weights += curves_[i].weight;
      // The noise that is left, in the metric in which the shared default counts once: (I + 11')^-1.
      const auto metric = [&](const Eigen::MatrixXd& m) -> Eigen::MatrixXd {
        return m.rowwise() - m.colwise().sum() / (rows + 1);
      };
      const Eigen::VectorXd e = noise * pull;
      const Eigen::MatrixXd left = noise - noise * inverse * noise;
      scatter[i] = std::max(kLeastVariance, (e.dot(metric(e).col(0)) + metric(left).trace()) / rows);
    }
    const double prior = covariance_.diagonal().mean() * kPriorShare;
    covariance_ = moment;
    covariance_.diagonal().array() += kPriorCurves * prior;
    covariance_ /= weights + kPriorCurves;
    update_noise(scatter, with_slope);
  }

  void update_noise(const std::vector<double>& scatter, bool with_slope) {
    double sum = 0;
    double weights = 0;
    if (with_slope) slope_ = slope_of(scatter);
    for (std::size_t i = 0; i < curves_.size(); ++i) {
      const auto n = static_cast<double>(residuals_[i].size());
      const double score = power_score(curves_[i].covariates);
      noise_[i] = (kNoiseFreedom * std::exp(level_ + slope_ * score) + n * scatter[i]) / (kNoiseFreedom + n);
      sum += curves_[i].weight * (std::log(noise_[i]) - slope_ * score);
      weights += curves_[i].weight;
    }
    level_ = sum / weights;
  }

  double slope_of(const std::vector<double>& scatter) const {
    double w = 0;
    double u = 0;
    double y = 0;
    for (std::size_t i = 0; i < curves_.size(); ++i) {
      w += curves_[i].weight;
      u += curves_[i].weight * power_score(curves_[i].covariates);
      y += curves_[i].weight * std::log(scatter[i]);
    }
    double uu = kSlopeRidge;
    double uy = 0;
    for (std::size_t i = 0; i < curves_.size(); ++i) {
      const double du = power_score(curves_[i].covariates) - u / w;
      uu += curves_[i].weight * du * du;
      uy += curves_[i].weight * du * (std::log(scatter[i]) - y / w);
    }
    return uy / uu;
  }

  /// One left-out row: how much of its variance comes from where.
  struct Row {
    double residual;
    double from_curve;
    double from_noise;
    double weight;
  };
  struct Scales {
    double curve = 1;
    double noise = 1;
  };

  /// Rows that mostly noise moves say how wide the noise is, the others how wide the curves are: one scale
  /// for both would let a few odd rows where the knob does nothing blow up what it does elsewhere.
  Scales calibration() const {
    std::vector<Row> by_curve;
    std::vector<Row> by_noise;
    std::set<int> groups;
    for (std::size_t i = 0; i < curves_.size(); ++i) {
      groups.insert(curves_[i].group);
      const double noise = 2 * std::exp(level_ + slope_ * power_score(curves_[i].covariates));
      const Eigen::VectorXd variance = (hinges_[i] * covariance_).cwiseProduct(hinges_[i]).rowwise().sum();
      const auto n = static_cast<double>(residuals_[i].size());
      for (Eigen::Index k = 0; k < residuals_[i].size(); ++k)
        (variance[k] > noise ? by_curve : by_noise)
            .push_back({residuals_[i][k], variance[k], noise, curves_[i].weight / n});
    }
    const double level = std::min(0.999, 0.9 * (1 + kFewGroups / static_cast<double>(groups.size())));
    Scales out;
    out.noise = scale_holding(by_noise, level, [](double scale) { return Scales{1, scale}; });
    out.curve = scale_holding(by_curve, level, [&](double scale) { return Scales{scale, out.noise}; });
    return out;
  }

  /// The scale at which `level` of the rows' weight lies inside the 90 % interval, by bisection.
  template <class Make>
  static double scale_holding(const std::vector<Row>& rows, double level, Make make) {
    constexpr std::size_t kFewestRows = 10;
    if (rows.size() < kFewestRows) return 1;
    double low = std::log(kLeastScale);
    double high = std::log(kMostScale);
    for (int i = 0; i < 20; ++i) {
      const double middle = (low + high) / 2;
      const Scales scales = make(std::exp(middle));
      double inside = 0;
      double all = 0;
      for (const Row& row : rows) {
        const double variance =
            scales.curve * scales.curve * row.from_curve + scales.noise * scales.noise * row.from_noise;
        if (std::abs(row.residual) <= kHalfWidth90 * std::sqrt(variance)) inside += row.weight;
        all += row.weight;
      }
      (inside < level * all ? low : high) = middle;
    }
    return std::exp((low + high) / 2);
  }

  const std::vector<CurveRows>& curves_;
  const std::vector<Eigen::VectorXd>& residuals_;
  std::vector<Eigen::MatrixXd> hinges_;
  Eigen::VectorXd scale_;
  Eigen::MatrixXd covariance_;  // of scaled coefficients
  std::vector<double> noise_;   // variance of one row, of each curve
  double level_ = 0;
  double slope_ = 0;
};

}  // namespace

double ResidualSpread::noise_variance(const Eigen::VectorXd& covariates) const {
  return std::exp(log_noise + log_noise_slope * power_score(covariates));
}

ResidualSpread fit_spread(const std::vector<CurveRows>& curves,
                          const std::vector<Eigen::VectorXd>& residuals) {
  return Fit(curves, residuals).run();
}

Believed believe(const ResidualSpread& spread, double default_noise, const Eigen::MatrixXd& hinges,
                 const Eigen::VectorXd& mean, const Measured& measured) {
  // The default's noise is one more shared direction.
  const auto directions = [&](const Eigen::MatrixXd& h) {
    Eigen::MatrixXd out(h.rows(), h.cols() + 1);
    out.leftCols(h.cols()) = h * spread.root;
    out.col(h.cols()).setConstant(std::sqrt(default_noise));
    return out;
  };
  const Eigen::MatrixXd prior = directions(hinges);
  if (measured.log_ratio.size() == 0) return {mean, prior};
  // In the space of the directions z ~ N(0, I): precision I + F' N^-1 F.
  const Eigen::MatrixXd f = directions(measured.hinges);
  Eigen::MatrixXd precision = f.transpose() * measured.noise.cwiseInverse().asDiagonal() * f;
  precision.diagonal().array() += 1;
  const Eigen::LLT<Eigen::MatrixXd> solved(precision);
  const Eigen::VectorXd z = solved.solve(f.transpose() * measured.noise.cwiseInverse().asDiagonal() *
                                         (measured.log_ratio - measured.predicted));
  // precision = L L', so the covariance of z is L'^-1 L^-1.
  const Eigen::MatrixXd factor = solved.matrixL().solve(prior.transpose()).transpose();
  return {mean + prior * z, factor};
}

json ResidualSpread::state() const {
  json rows = json::array();
  for (Eigen::Index i = 0; i < root.rows(); ++i) {
    json row = json::array();
    for (Eigen::Index j = 0; j < root.cols(); ++j) row.push_back(root(i, j));
    rows.push_back(std::move(row));
  }
  return {{"root", std::move(rows)}, {"log_noise", log_noise}, {"log_noise_slope", log_noise_slope}};
}

Result<ResidualSpread> ResidualSpread::read(const json& state) {
  try {
    ResidualSpread out;
    const auto rows = state.at("root").get<std::vector<std::vector<double>>>();
    const auto n = static_cast<Eigen::Index>(rows.size());
    out.root.resize(n, n);
    for (Eigen::Index i = 0; i < n; ++i) {
      const auto& row = rows[static_cast<std::size_t>(i)];
      if (row.size() != rows.size())
        return fail(ErrorCode::corrupt, cat("a covariance root has ", rows.size(), " rows and ", row.size(),
                                            " columns; they must be as many"));
      for (Eigen::Index j = 0; j < n; ++j) out.root(i, j) = row[static_cast<std::size_t>(j)];
    }
    out.log_noise = state.at("log_noise").get<double>();
    out.log_noise_slope = state.at("log_noise_slope").get<double>();
    return out;
  } catch (const json::exception& error) {
    return fail(ErrorCode::corrupt, cat("the spread of a model cannot be read: ", error.what()));
  }
}

}  // namespace rubato::predict::shared_curve
