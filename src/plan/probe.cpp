// The knowledge gradient (Frazier, Powell and Dayanik 2008) of the choice, inside the bound and without one,
// by a fixed quadrature, plus what the curves gain: all are fractions of the default's time and energy, so
// they add.
#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "plan/belief.h"
#include "plan/choice.h"

namespace rubato::plan {
namespace {

using predict::Prediction;

// Of a standard normal: means of eight parts of equal probability for the time seen, scaled to variance one
// (a bound is a step, which few wide nodes would miss), and two nodes for what the energy adds.
constexpr std::array<double, 8> kTimeNodes = {-1.663, -0.962, -0.530, -0.171, 0.171, 0.530, 0.962, 1.663};
constexpr std::array<double, 2> kEnergyNodes = {-1.0, 1.0};
// Probes whose effect on the choice is computed: those that tell most of the curves, and the best choices
// now.
constexpr std::size_t kShortlist = 16;
// What a fall of the curves' mean deviation counts against the same fraction saved: a probe is for the
// choice.
constexpr double kCurves = 0.5;

// How a measurement at one setting moves the beliefs of all: with y - E[y] = L xi, the means of (time,
// energy) at i move by rows i of (time * xi, energy * xi), and their covariance shrinks by the products of
// those rows.
struct Moves {
  Eigen::MatrixX2d time;
  Eigen::MatrixX2d energy;
};

Moves moves(const Prediction& p, std::size_t probe) {
  const auto j = static_cast<Eigen::Index>(probe);
  const auto n = static_cast<Eigen::Index>(p.size());
  const double own_time = p.time_own[j] * p.time_own[j];
  const double own_energy = p.energy_own[j] * p.energy_own[j];
  Eigen::MatrixX2d time = Eigen::MatrixX2d::Zero(n, 2);
  Eigen::MatrixX2d energy = Eigen::MatrixX2d::Zero(n, 2);
  if (p.time_factor.cols() > 0) {
    time.col(0) = p.time_factor * p.time_factor.row(j).transpose();
    time.col(1) = p.time_factor * p.energy_factor.row(j).transpose();
    energy.col(0) = p.energy_factor * p.time_factor.row(j).transpose();
    energy.col(1) = p.energy_factor * p.energy_factor.row(j).transpose();
  }
  time(j, 0) += own_time;
  energy(j, 1) += own_energy;
  // A little more than no noise, so that two settings believed to be one do not divide by zero.
  constexpr double kLeast = 1e-12;
  Eigen::Matrix2d seen;
  seen << time(j, 0) + p.measurement_noise.time * p.measurement_noise.time + kLeast, time(j, 1), energy(j, 0),
      energy(j, 1) + p.measurement_noise.energy * p.measurement_noise.energy + kLeast;
  const Eigen::LLT<Eigen::Matrix2d> factored(seen);
  // C L^-T
  Moves out;
  out.time = factored.matrixL().solve(time.transpose()).transpose();
  out.energy = factored.matrixL().solve(energy.transpose()).transpose();
  return out;
}

double left(double variance, double gone) {
  return std::sqrt(std::max(0.0, variance - gone));
}

// Mean fall of the standard deviations over all settings: what the mean error of the curves gains.
double curves_gain(const std::vector<Belief>& beliefs, const Moves& moved) {
  double sum = 0;
  for (std::size_t i = 0; i < beliefs.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    const Belief& b = beliefs[i];
    sum += std::sqrt(b.time_variance) - left(b.time_variance, moved.time.row(row).squaredNorm());
    sum += std::sqrt(b.energy_variance) - left(b.energy_variance, moved.energy.row(row).squaredNorm());
  }
  return sum / (2 * static_cast<double>(beliefs.size()));
}

// What the best choices save: inside the bound, and without one (a bound may change, and where none holds the
// free choice is the one that counts).
struct Saved {
  double inside = 0;
  double free = 0;

  void consider(const Belief& belief, const ObjectiveRatio& ratio, double log_bound) {
    const double saving = 1 - ratio.mean(belief);
    free = std::max(free, saving);
    if (saving > 0) inside = std::max(inside, ratio.saving_inside(belief, log_bound));
  }
};

double choice_gain(const std::vector<Belief>& beliefs, const Moves& moved, const ObjectiveRatio& ratio,
                   double log_bound, const Saved& now) {
  Saved expected;
  for (const double a : kTimeNodes) {
    for (const double b : kEnergyNodes) {
      Saved best;
      for (std::size_t i = 0; i < beliefs.size(); ++i) {
        const auto time = moved.time.row(static_cast<Eigen::Index>(i));
        const auto energy = moved.energy.row(static_cast<Eigen::Index>(i));
        Belief after = beliefs[i];
        after.time += time[0] * a + time[1] * b;
        after.energy += energy[0] * a + energy[1] * b;
        after.time_variance = std::max(0.0, after.time_variance - time.squaredNorm());
        after.energy_variance = std::max(0.0, after.energy_variance - energy.squaredNorm());
        after.covariance -= time.dot(energy);
        best.consider(after, ratio, log_bound);
      }
      constexpr auto kNodes = static_cast<double>(kTimeNodes.size() * kEnergyNodes.size());
      expected.inside += best.inside / kNodes;
      expected.free += best.free / kNodes;
    }
  }
  return std::max(0.0, expected.inside - now.inside) + std::max(0.0, expected.free - now.free);
}

// The positions of the `count` highest scores; of equals the earlier.
void add_highest(std::vector<std::size_t>& into, const std::vector<std::size_t>& of,
                 const std::vector<double>& score, std::size_t count) {
  std::vector<std::size_t> order = of;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return score[a] > score[b]; });
  order.resize(std::min(order.size(), count));
  for (const std::size_t i : order)
    if (std::find(into.begin(), into.end(), i) == into.end()) into.push_back(i);
}

}  // namespace

std::optional<std::size_t> next_probe(const Prediction& believed, const Goal& goal, Watts board_at_default,
                                      const std::vector<bool>& measured) {
  const std::size_t n = believed.size();
  const ObjectiveRatio ratio(goal, board_at_default);
  const double log_bound = std::log1p(goal.max_slowdown);
  std::vector<Belief> beliefs(n);
  std::vector<double> worth_now(n);
  Saved now;
  std::vector<double> tells(n, 0.0);
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < n; ++i) {
    beliefs[i] = belief_at(believed, i);
    Saved alone;
    alone.consider(beliefs[i], ratio, log_bound);
    worth_now[i] = alone.inside;
    now.consider(beliefs[i], ratio, log_bound);
    if (i >= measured.size() || !measured[i]) open.push_back(i);
  }
  if (open.empty()) return std::nullopt;
  for (const std::size_t i : open) tells[i] = curves_gain(beliefs, moves(believed, i));

  std::vector<std::size_t> shortlist;
  add_highest(shortlist, open, tells, kShortlist);
  add_highest(shortlist, open, worth_now, kShortlist);
  std::sort(shortlist.begin(), shortlist.end());
  std::optional<std::size_t> best;
  double best_score = 0;
  for (const std::size_t i : shortlist) {
    const double score = kCurves * tells[i] + choice_gain(beliefs, moves(believed, i), ratio, log_bound, now);
    if (best && score <= best_score) continue;
    best = i;
    best_score = score;
  }
  return best;
}

}  // namespace rubato::plan
