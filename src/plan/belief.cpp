#include "plan/belief.h"

#include <algorithm>
#include <cmath>

#include "base/normal.h"

namespace rubato::plan {
namespace {

double chance_below(double mean, double variance, double bound) {
  if (variance <= 0) return mean <= bound ? 1 : 0;
  return normal_below((bound - mean) / std::sqrt(variance));
}

struct Normal {
  double mean;
  double variance;
};

// Of energy_power * log energy + time_power * log time.
Normal combined(const Belief& b, double energy_power, double time_power) {
  return {energy_power * b.energy + time_power * b.time, energy_power * energy_power * b.energy_variance +
                                                             time_power * time_power * b.time_variance +
                                                             2 * energy_power * time_power * b.covariance};
}

}  // namespace

Belief belief_at(const predict::Prediction& believed, std::size_t i) {
  const auto row = static_cast<Eigen::Index>(i);
  Belief out{.time = believed.log_time[row], .energy = believed.log_energy[row]};
  const double time = believed.time_deviation(i);
  const double energy = believed.energy_deviation(i);
  out.time_variance = time * time;
  out.energy_variance = energy * energy;
  if (believed.time_factor.cols() > 0)
    out.covariance = believed.time_factor.row(row).dot(believed.energy_factor.row(row));
  return out;
}

ObjectiveRatio::ObjectiveRatio(const Goal& goal, Watts board_at_default) {
  const double share = goal.objective == Objective::time ? 1.0 : share_of_time(goal, board_at_default);
  const double delay = delay_exponent(goal.objective);
  terms_ = {Term{1 - share, 1, delay}, Term{share, 0, delay + 1}};
}

double ObjectiveRatio::mean(const Belief& belief) const {
  double sum = 0;
  for (const Term& term : terms_) {
    if (term.weight == 0) continue;
    const Normal n = combined(belief, term.energy_power, term.time_power);
    sum += term.weight * std::exp(n.mean + n.variance / 2);
  }
  return sum;
}

double ObjectiveRatio::saving_inside(const Belief& belief, double log_bound) const {
  double saving = probability_inside(belief, log_bound);
  for (const Term& term : terms_) {
    if (term.weight == 0) continue;
    const Normal n = combined(belief, term.energy_power, term.time_power);
    // E[exp(X) where T <= b] = E[exp(X)] * P(T + cov(X, T) <= b).
    const double with_time = term.energy_power * belief.covariance + term.time_power * belief.time_variance;
    saving -= term.weight * std::exp(n.mean + n.variance / 2) *
              chance_below(belief.time + with_time, belief.time_variance, log_bound);
  }
  return saving;
}

Expected ObjectiveRatio::interval(const Belief& belief) const {
  double mean = 0;
  double second = 0;
  for (const Term& a : terms_) {
    const Normal n = combined(belief, a.energy_power, a.time_power);
    mean += a.weight * std::exp(n.mean + n.variance / 2);
    for (const Term& b : terms_) {
      const Normal both = combined(belief, a.energy_power + b.energy_power, a.time_power + b.time_power);
      second += a.weight * b.weight * std::exp(both.mean + both.variance / 2);
    }
  }
  const double variance = std::log(std::max(1.0, second / (mean * mean)));
  return expected_of(std::log(mean) - variance / 2, variance);
}

double probability_inside(const Belief& belief, double log_bound) {
  return chance_below(belief.time, belief.time_variance, log_bound);
}

Expected expected_of(double log_median, double variance) {
  const double reach = predict::kHalfWidth90 * std::sqrt(std::max(0.0, variance));
  return {std::exp(log_median), std::exp(log_median - reach), std::exp(log_median + reach)};
}

}  // namespace rubato::plan
