#include "plan/curve_belief.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "base/normal.h"

namespace rubato::plan {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::MatrixXf;
using Eigen::VectorXd;

// What a drawn curve may be wrong by: a share of how unlike each other the drawn curves are there, so that it
// vanishes where all agree.
constexpr double kMisfit = 0.35;
constexpr double kLeastMisfit = 0.004;
// Where a job does what no drawn curve does, the evidence says so.
constexpr std::array kMisfits = {1.0, 4.0};
// By this much in the logarithm is each next one of either list less likely beforehand.
constexpr double kLessLikely = 1;
constexpr double kLeastSuspicion = 0.05;  // of the likeliest, below which one is dropped
constexpr double kLeastWeight = 1e-4;     // of the likeliest curve's, below which a curve is dropped

}  // namespace

/// How much the job may drift and how wrong the curves may be, and how well that explains what was seen.
struct CurveBelief::Suspicion {
  Explained time;  // its scores are of time and power together
  Explained power;
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
    : CurveBelief(std::move(at), found, std::move(draws), Unfitted{}) {
  fit({});
}

CurveBelief::CurveBelief(std::vector<predict::KnobPoint> at, std::size_t found, predict::Draws draws,
                         Unfitted /*yet*/)
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
}

void CurveBelief::move(Quantity& q, const SeenStretches& stretches, const SeenValues& values,
                       const Explained& explained, const std::vector<Index>& kept, Eigen::Ref<MatrixXf> moved,
                       Index suspicion) {
  for (Index k = 0; k < moved.cols(); ++k)
    moved.col(k) = q.curves.col(kept[static_cast<std::size_t>(k)]).cast<float>();
  const VectorXd scale = explained.misfit * q.scale;
  q.own.col(suspicion) = scale.array().square();
  if (stretches.places.empty()) return;
  const MatrixXd shared = scale.asDiagonal() * stretches.alike * scale(stretches.places).asDiagonal();
  const MatrixXd steps = (-explained.precision * values.off(Eigen::all, kept)).colwise() + explained.told;
  moved.noalias() += shared.cast<float>() * steps.cast<float>();
  q.own.col(suspicion) -= (shared * explained.precision).cwiseProduct(shared).rowwise().sum();
  q.own.col(suspicion) = q.own.col(suspicion).cwiseMax(0.0);
}

VectorXd CurveBelief::deviation_of(const MatrixXf& curves, const MatrixXd& own, const VectorXd& mean) const {
  const Eigen::ArrayXf middle = mean.cast<float>().array();
  Eigen::ArrayXf between = Eigen::ArrayXf::Zero(middle.size());
  for (Index k = 0; k < weight_.size(); ++k)
    between += static_cast<float>(weight_[k]) * (curves.col(k).array() - middle).square();
  return (between.cast<double>().matrix() + own * suspected_).cwiseSqrt();
}

void CurveBelief::fit(std::span<const MeasuredStretch> seen) {
  SeenStretches stretches = seen_stretches(seen, places_);
  const SeenValues time =
      seen_values(seen, stretches, &MeasuredStretch::log_time, &MeasuredStretch::time_variance, time_.curves);
  const SeenValues power = seen_values(seen, stretches, &MeasuredStretch::log_power,
                                       &MeasuredStretch::power_variance, power_.curves);

  // Time and power drift for the same reasons, so both are weighed under one suspicion at a time.
  std::vector<Suspicion> all;
  double likeliest = -std::numeric_limits<double>::infinity();
  constexpr std::array<Unrest, 6> kUnrests = {
      {{0.0003, 0.0005}, {0.0003, 0.002}, {0.0015, 0.002}, {0.005, 0.002}, {0.005, 0.01}, {0.015, 0.01}}};
  for (std::size_t d = 0; d < kUnrests.size(); ++d)
    for (std::size_t m = 0; m < kMisfits.size(); ++m) {
      Suspicion s{explain(time_.scale, stretches, time, kUnrests[d], kMisfits[m]),
                  explain(power_.scale, stretches, power, kUnrests[d], kMisfits[m])};
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
  if (std::all_of(seen.begin(), seen.end(), [&](const MeasuredStretch& s) { return s.at == found_; }))
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
  suspected_ = VectorXd::Zero(index(all.size()));
  for (Index k = 0; k < weight_.size(); ++k)
    suspected_[suspicion_of_[static_cast<std::size_t>(k)]] += weight_[k];
  // Grown at most: the pages of so large a matrix cost more than what is computed in them.
  const Index count = weight_.size();
  for (MatrixXf* m : {&times_, &energies_})
    if (m->cols() < count) m->resize(time_.curves.rows(), count);
  for (Quantity* q : {&time_, &power_}) q->own.resize(q->curves.rows(), index(all.size()));
  const Eigen::VectorXf weight = weight_.cast<float>();
  Index column = 0;
  for (std::size_t s = 0; s < all.size(); ++s) {
    const Index more = index(kept[s].size());
    move(time_, stretches, time, all[s].time, kept[s], times_.middleCols(column, more), index(s));
    move(power_, stretches, power, all[s].power, kept[s], energies_.middleCols(column, more), index(s));
    column += more;
  }
  seen_ = std::move(stretches);
  explained_.clear();
  for (Suspicion& s : all) explained_.push_back(std::move(s.time));
  const auto times = times_.leftCols(count);
  auto energies = energies_.leftCols(count);
  time_.mean = (times * weight).cast<double>();
  time_.deviation = deviation_of(times_, time_.own, time_.mean);
  power_.mean = (energies * weight).cast<double>();  // power's until time is added to it
  power_.deviation = deviation_of(energies_, power_.own, power_.mean);
  energies += times;
  const VectorXd energy = (energies * weight).cast<double>();
  energy_deviation_ = deviation_of(energies_, time_.own + power_.own, energy);
  energies = energies.array().exp();
  energy_ = (energies * weight).cast<double>();
}

double CurveBelief::log_time_deviation(std::span<const double> weights) const {
  std::vector<Index> at;
  for (std::size_t i = 0; i < weights.size(); ++i)
    if (weights[i] != 0) at.push_back(index(i));
  const auto n = static_cast<Index>(at.size());
  VectorXd weight(n);
  MatrixXd alikes(n, n);
  for (Index a = 0; a < n; ++a) {
    const Index here = at[static_cast<std::size_t>(a)];
    weight[a] = weights[static_cast<std::size_t>(here)];
    for (Index b = 0; b < n; ++b) alikes(a, b) = alike(places_, here, at[static_cast<std::size_t>(b)]);
  }
  double variance = 0;
  for (Index k = 0; k < weight_.size(); ++k) {
    double off = 0;
    for (Index a = 0; a < n; ++a) {
      const Index here = at[static_cast<std::size_t>(a)];
      off += weight[a] * (static_cast<double>(times_(here, k)) - time_.mean[here]);
    }
    variance += weight_[k] * off * off;
  }
  for (std::size_t s = 0; s < explained_.size(); ++s) {
    const VectorXd scaled = explained_[s].misfit * weight.cwiseProduct(time_.scale(at));
    double own = scaled.dot(alikes * scaled);
    if (!seen_.places.empty()) {
      const VectorXd told =
          explained_[s].misfit *
          time_.scale(seen_.places).cwiseProduct(seen_.alike(at, Eigen::all).transpose() * scaled);
      own -= told.dot(explained_[s].precision * told);
    }
    variance += suspected_[index(s)] * std::max(0.0, own);
  }
  return std::sqrt(variance);
}

double CurveBelief::time(std::size_t i) const {
  return std::exp(log_time(i));
}

double CurveBelief::energy(std::size_t i) const {
  return energy_[index(i)];
}

double CurveBelief::holds(std::size_t i, double log_bound) const {
  const Index row = index(i);
  double sum = 0;
  for (Index k = 0; k < weight_.size(); ++k) {
    const double own = std::sqrt(time_.own(row, suspicion_of_[static_cast<std::size_t>(k)])) + 1e-9;
    sum += weight_[k] * normal_below((log_bound - static_cast<double>(times_(row, k))) / own);
  }
  return sum;
}

}  // namespace rubato::plan
