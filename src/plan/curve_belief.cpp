#include "plan/curve_belief.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

namespace rubato::plan {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// What a drawn curve may be wrong by: a share of how unlike each other the drawn curves are there, so that it
// vanishes where all agree; smooth over a quarter of the knob (a factor of 1.28), with kinks at the scale of
// a few hardware steps, as measured curves have them (a limiter's steps, a kernel that changes).
constexpr double kMisfit = 0.35;
constexpr double kLeastMisfit = 0.004;
// Where a job does what no drawn curve does, the evidence says so.
constexpr std::array kMisfits = {1.0, 4.0};
constexpr double kSmooth = 0.25;
constexpr double kKink = 0.04;
constexpr double kKinkShare = 0.25;
// The job itself drifts (temperature, data, neighbours) over minutes, and settles in its first few (caches,
// data loaders, the heat of the chip), so that what a run looks like at first says less of what it looks like
// later: by how much (standard deviations of the two), the evidence chooses.
constexpr double kDriftSeconds = 200;
constexpr double kMoment = 0.005;  // of it: no stretch counts as shorter
// By this much in the logarithm is each next one of either list less likely beforehand.
constexpr double kLessLikely = 1;
constexpr std::array kWarmupSeconds = {60.0, 150.0};
constexpr double kLevelVariance = 1;  // of the logarithm at the found setting: nothing is known beforehand
constexpr double kLeastSuspicion = 0.05;  // of the likeliest, below which one is dropped
constexpr double kLeastWeight = 1e-4;     // of the likeliest curve's, below which a curve is dropped

double matern(double distance, double length) {
  const double x = std::sqrt(3.0) * distance / length;
  return (1 + x) * std::exp(-x);
}

double alike(const MatrixXd& places, Index a, Index b) {
  const double distance = (places.row(a) - places.row(b)).norm();
  return (1 - kKinkShare) * matern(distance, kSmooth) + kKinkShare * matern(distance, kKink);
}

double normal_below(double x) {
  return 0.5 * std::erfc(-x * std::sqrt(0.5));
}

}  // namespace

// Of an Ornstein-Uhlenbeck process: its correlation between two moments, integrated over both.
double drift_together(const MeasuredStretch& a, const MeasuredStretch& b) {
  const double apart = std::abs((a.when - b.when).value()) / kDriftSeconds;
  const double first = std::max(a.span.value() / kDriftSeconds, kMoment);
  const double second = std::max(b.span.value() / kDriftSeconds, kMoment);
  // Its second integral, from zero on.
  const auto twice = [](double x) { return std::expm1(-std::abs(x)) + std::abs(x); };
  const double outer = (first + second) / 2;
  const double inner = (first - second) / 2;
  return (twice(apart + outer) + twice(apart - outer) - twice(apart + inner) - twice(apart - inner)) /
         (first * second);
}

struct CurveBelief::Unrest {
  double drift;
  double warm_up;
};

/// What was seen of one quantity.
struct CurveBelief::Rows {
  std::vector<Index> at;
  VectorXd value;  // over that of the first row
  VectorXd variance;
  VectorXd when;  // seconds since the job began
  std::vector<int> era;
  MatrixXd drifted;  // correlation between any two of one era
};

struct CurveBelief::Fitted {
  Eigen::LLT<MatrixXd> covariance;
  VectorXd score;  // of each curve, logarithm
  double misfit = 1;
};

/// How much the job may drift and how wrong the curves may be, and how well that explains what was seen.
struct CurveBelief::Suspicion {
  Fitted time;  // its scores are of time and power together
  Fitted power;
  double best = 0;      // score
  double together = 0;  // of all curves
  double drift = 0;
};

double CurveBelief::expected_drift(std::span<const Suspicion> all, double likeliest) {
  double drift = 0;
  double sum = 0;
  for (const Suspicion& s : all) {
    const double weight = std::exp(s.together - likeliest);
    drift += weight * s.drift;
    sum += weight;
  }
  return drift / sum;
}

// Where the found setting alone was seen, how much the job drifts moves no curve: one copy of each is enough.
void CurveBelief::join_where_drift_tells_nothing(std::vector<Suspicion>& all) {
  std::vector<Suspicion> joined;
  for (Suspicion& s : all) {
    const auto same = std::find_if(joined.begin(), joined.end(),
                                   [&](const auto& j) { return j.time.misfit == s.time.misfit; });
    if (same == joined.end())
      joined.push_back(std::move(s));
    else
      same->together += std::log1p(std::exp(s.together - same->together));
  }
  all = std::move(joined);
}

CurveBelief::CurveBelief(std::vector<predict::KnobPoint> at, std::size_t found, predict::Draws draws)
    : at_(std::move(at)), found_(found), places_(MatrixXd::Zero(index(at_.size()), 3)) {
  // A knob that a setting leaves alone is taken to stand at its highest: so the found setting has no clocks
  // where none was locked.
  const auto distance = [&](auto member, Index column) {
    double highest = 0;
    for (const auto& point : at_)
      if (const auto& value = point.*member) highest = std::max(highest, value->value());
    for (std::size_t i = 0; i < at_.size(); ++i)
      if (const auto& here = at_[i].*member) places_(index(i), column) = std::log(here->value() / highest);
  };
  distance(&predict::KnobPoint::power_limit, 0);
  distance(&predict::KnobPoint::sm_clock, 1);
  distance(&predict::KnobPoint::memory_clock, 2);
  time_.curves = std::move(draws.log_time);
  power_.curves = std::move(draws.log_power);
  for (Quantity* q : {&time_, &power_}) {
    const VectorXd mean = q->curves.rowwise().mean();
    q->scale = (q->curves.colwise() - mean).array().square().rowwise().mean().sqrt().matrix();
    q->scale = kMisfit * q->scale.array() + kLeastMisfit;
    q->scale[index(found_)] = 0;
  }
  fit({});
}

CurveBelief::Fitted CurveBelief::explain(const Quantity& q, const Rows& rows, const Unrest& unrest,
                                         double misfit) const {
  const Index n = rows.value.size();
  MatrixXd covariance = rows.variance.asDiagonal();
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j <= i; ++j) {
      const Index a = rows.at[static_cast<std::size_t>(i)];
      const Index b = rows.at[static_cast<std::size_t>(j)];
      covariance(i, j) += misfit * misfit * q.scale[a] * q.scale[b] * alike(places_, a, b);
      if (rows.era[static_cast<std::size_t>(i)] == rows.era[static_cast<std::size_t>(j)]) {
        // Only differences count beside a level that nothing is known of.
        covariance(i, j) += kLevelVariance + unrest.drift * unrest.drift * rows.drifted(i, j);
        for (const double seconds : kWarmupSeconds)
          covariance(i, j) +=
              unrest.warm_up * unrest.warm_up * std::exp(-(rows.when[i] + rows.when[j]) / seconds);
      }
      covariance(j, i) = covariance(i, j);
    }
  Fitted out{.covariance = covariance.llt(), .score = VectorXd::Zero(q.curves.cols())};
  double spread = 0;
  for (Index i = 0; i < n; ++i) spread += std::log(out.covariance.matrixLLT()(i, i));
  if (n > 0) {
    MatrixXd off(n, q.curves.cols());
    for (Index i = 0; i < n; ++i)
      off.row(i) = rows.value[i] - q.curves.row(rows.at[static_cast<std::size_t>(i)]).array();
    out.covariance.matrixL().solveInPlace(off);
    out.score = -0.5 * off.colwise().squaredNorm().transpose().array() - spread;
  }
  out.misfit = misfit;
  return out;
}

void CurveBelief::move(Quantity& q, const Rows& rows, const Fitted& fitted, const std::vector<Index>& kept,
                       Index column, Index suspicion) const {
  const Index n = rows.value.size();
  const Index settings = q.curves.rows();
  const auto count = static_cast<Index>(kept.size());
  MatrixXd off(n, count);
  for (Index k = 0; k < count; ++k) {
    const Index curve = kept[static_cast<std::size_t>(k)];
    q.kept.col(column + k) = q.curves.col(curve);
    for (Index i = 0; i < n; ++i)
      off(i, k) = rows.value[i] - q.curves(rows.at[static_cast<std::size_t>(i)], curve);
  }
  const VectorXd scale = fitted.misfit * q.scale;
  q.own.col(suspicion) = scale.array().square();
  if (n == 0) return;
  MatrixXd shared(settings, n);
  // Stretches at one setting share a column.
  std::vector<Index> first(static_cast<std::size_t>(settings), -1);
  for (Index i = 0; i < n; ++i) {
    const Index a = rows.at[static_cast<std::size_t>(i)];
    Index& same = first[static_cast<std::size_t>(a)];
    if (same >= 0) {
      shared.col(i) = shared.col(same);
      continue;
    }
    same = i;
    for (Index g = 0; g < settings; ++g) shared(g, i) = scale[g] * scale[a] * alike(places_, g, a);
  }
  q.kept.middleCols(column, count).noalias() += shared * fitted.covariance.solve(off);
  const MatrixXd known = fitted.covariance.matrixL().solve(shared.transpose());
  q.own.col(suspicion) -= known.colwise().squaredNorm().transpose();
  q.own.col(suspicion) = q.own.col(suspicion).cwiseMax(0.0);
}

VectorXd CurveBelief::deviation_of(const MatrixXd& curves, const MatrixXd& own, const VectorXd& mean) const {
  VectorXd variance = (curves.colwise() - mean).array().square().matrix() * weight_;
  for (Index k = 0; k < weight_.size(); ++k)
    variance += weight_[k] * own.col(suspicion_of_[static_cast<std::size_t>(k)]);
  return variance.cwiseSqrt();
}

void CurveBelief::fit(std::span<const MeasuredStretch> seen) {
  const auto n = static_cast<Index>(seen.size());
  Rows time{.at = {},
            .value = VectorXd(n),
            .variance = VectorXd(n),
            .when = VectorXd(n),
            .era = {},
            .drifted = MatrixXd(n, n)};
  Rows power = time;
  for (Index i = 0; i < n; ++i) {
    const MeasuredStretch& s = seen[static_cast<std::size_t>(i)];
    time.at.push_back(index(s.at));
    time.value[i] = s.log_time - seen.front().log_time;
    time.variance[i] = s.time_variance;
    time.when[i] = s.when.value();
    time.era.push_back(s.era);
    power.value[i] = s.log_power - seen.front().log_power;
    power.variance[i] = s.power_variance;
    for (Index j = 0; j < n; ++j) {
      const MeasuredStretch& other = seen[static_cast<std::size_t>(j)];
      time.drifted(i, j) =
          s.drifted && other.drifted ? 1 + (i == j ? *s.drifted : 0.0) : drift_together(s, other);
    }
  }
  power.at = time.at;
  power.when = time.when;
  power.era = time.era;
  power.drifted = time.drifted;

  // Time and power drift for the same reasons, so both are weighed under one suspicion at a time.
  std::vector<Suspicion> all;
  double likeliest = -std::numeric_limits<double>::infinity();
  constexpr std::array<Unrest, 6> kUnrests = {
      {{0.0003, 0.0005}, {0.0003, 0.002}, {0.0015, 0.002}, {0.005, 0.002}, {0.005, 0.01}, {0.015, 0.01}}};
  for (std::size_t d = 0; d < kUnrests.size(); ++d)
    for (std::size_t m = 0; m < kMisfits.size(); ++m) {
      Suspicion s{explain(time_, time, kUnrests[d], kMisfits[m]),
                  explain(power_, power, kUnrests[d], kMisfits[m])};
      s.time.score += s.power.score;
      s.best = s.time.score.maxCoeff();
      s.drift = kUnrests[d].drift;
      s.together = s.best + std::log((s.time.score.array() - s.best).exp().mean()) -
                   kLessLikely * static_cast<double>(d + m);
      // A covariance that rounding has made indefinite explains nothing.
      if (!std::isfinite(s.together)) continue;
      likeliest = std::max(likeliest, s.together);
      all.push_back(std::move(s));
    }
  if (all.empty()) return;  // what was believed stays
  std::erase_if(all, [&](const Suspicion& s) { return s.together < likeliest + std::log(kLeastSuspicion); });
  drift_ = expected_drift(all, likeliest);
  if (std::all_of(time.at.begin(), time.at.end(), [&](Index a) { return a == index(found_); }))
    join_where_drift_tells_nothing(all);

  std::vector<std::vector<Index>> kept(all.size());
  std::vector<double> weights;
  suspicion_of_.clear();
  for (std::size_t s = 0; s < all.size(); ++s) {
    const double weight = std::exp(all[s].together - likeliest);
    const VectorXd likely = (all[s].time.score.array() - all[s].best).exp();
    for (Index m = 0; m < likely.size(); ++m) {
      if (likely[m] < kLeastWeight) continue;
      kept[s].push_back(m);
      suspicion_of_.push_back(static_cast<Index>(s));
      weights.push_back(weight * likely[m] / likely.sum());
    }
  }
  weight_ = Eigen::Map<const VectorXd>(weights.data(), static_cast<Index>(weights.size()));
  weight_ /= weight_.sum();
  for (Quantity* q : {&time_, &power_}) {
    q->kept.resize(q->curves.rows(), weight_.size());
    q->own.resize(q->curves.rows(), static_cast<Index>(all.size()));
  }
  Index column = 0;
  for (std::size_t s = 0; s < all.size(); ++s) {
    move(time_, time, all[s].time, kept[s], column, static_cast<Index>(s));
    move(power_, power, all[s].power, kept[s], column, static_cast<Index>(s));
    column += static_cast<Index>(kept[s].size());
  }
  for (Quantity* q : {&time_, &power_}) {
    q->mean = q->kept * weight_;
    q->deviation = deviation_of(q->kept, q->own, q->mean);
  }
  const MatrixXd energy = time_.kept + power_.kept;
  energy_deviation_ = deviation_of(energy, time_.own + power_.own, energy * weight_);
  energy_ = energy.array().exp().matrix() * weight_;
}

double CurveBelief::time(std::size_t i) const {
  return std::exp(log_time(i));
}

double CurveBelief::energy(std::size_t i) const {
  return energy_[index(i)];
}

VectorXd CurveBelief::expected_gains(double log_bound, double saved, double host_share) const {
  const Eigen::ArrayXXd own = time_.own.array().sqrt() + 1e-9;
  const Eigen::ArrayXXd own_energy = (time_.own + power_.own).array().sqrt() + 1e-9;
  VectorXd out = VectorXd::Zero(time_.kept.rows());
  for (Index k = 0; k < weight_.size(); ++k) {
    const Index suspicion = suspicion_of_[static_cast<std::size_t>(k)];
    const auto time = time_.kept.col(k).array();
    Eigen::ArrayXd saving = 1 - (1 - host_share) * (time + power_.kept.col(k).array()).exp();
    if (host_share > 0) saving -= host_share * time.exp();
    // Expected improvement of a normal (Mockus 1978).
    const auto deviation = own_energy.col(suspicion);
    const Eigen::ArrayXd z = (saving - saved) / deviation;
    const Eigen::ArrayXd gain = deviation * (z * z.unaryExpr(&normal_below) +
                                             (-z.square() / 2).exp() / std::sqrt(2 * std::numbers::pi));
    out.array() += weight_[k] * ((log_bound - time) / own.col(suspicion)).unaryExpr(&normal_below) * gain;
  }
  return out;
}

double CurveBelief::holds(std::size_t i, double log_bound) const {
  const Index row = index(i);
  double sum = 0;
  for (Index k = 0; k < weight_.size(); ++k) {
    const double own = std::sqrt(time_.own(row, suspicion_of_[static_cast<std::size_t>(k)])) + 1e-9;
    sum += weight_[k] * normal_below((log_bound - time_.kept(row, k)) / own);
  }
  return sum;
}

}  // namespace rubato::plan
