// What is believed of a running job's curve of time and energy over all its settings, while stretches of it
// are measured: many drawn curves, weighed by how well each tells what was seen, and each allowed to be a
// little wrong in a way that neighbouring settings share.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <span>
#include <vector>

#include "plan/reached.h"
#include "plan/stretch_evidence.h"
#include "predict/curve.h"
#include "predict/draws.h"

namespace rubato::plan {

/// Ratios to the found setting at the same moment: what drifts with the job drifts for both. Positions are
/// those of the settings it was made with.
class CurveBelief {
 public:
  /// `draws` has a row for each setting; at `found` both logarithms are zero in every curve.
  CurveBelief(std::vector<predict::KnobPoint> at, std::size_t found, predict::Draws draws);
  /// To be fitted before anything is asked: drawing curves and believing them twice is a long decision.
  struct Unfitted {};
  CurveBelief(std::vector<predict::KnobPoint> at, std::size_t found, predict::Draws draws, Unfitted);

  /// Forgets what it was told before. Cost: cubic in the stretches, linear in settings times curves.
  void fit(std::span<const MeasuredStretch> seen);

  [[nodiscard]] std::size_t size() const { return at_.size(); }
  [[nodiscard]] std::size_t found() const { return found_; }
  [[nodiscard]] const predict::KnobPoint& at(std::size_t i) const { return at_[i]; }

  [[nodiscard]] double log_time(std::size_t i) const { return time_.mean[index(i)]; }
  [[nodiscard]] double log_time_deviation(std::size_t i) const { return time_.deviation[index(i)]; }
  /// Of the sum over settings of logarithms of time, each times its weight: settings err together only as far
  /// as what was seen of them leaves it so.
  [[nodiscard]] double log_time_deviation(std::span<const double> weights) const;
  [[nodiscard]] double log_power(std::size_t i) const { return power_.mean[index(i)]; }
  [[nodiscard]] double log_energy_deviation(std::size_t i) const { return energy_deviation_[index(i)]; }
  [[nodiscard]] double time(std::size_t i) const;
  [[nodiscard]] double energy(std::size_t i) const;
  /// Probability that log time over the found setting's is at most this.
  [[nodiscard]] double holds(std::size_t i, double log_bound) const;
  /// Of each setting: expected gain over `saved` of energy times time to the power of `delay`, where one that
  /// breaks the bound gains nothing.
  [[nodiscard]] Eigen::VectorXd expected_gains(double log_bound, double saved, double host_share,
                                               double delay = 0) const;
  /// Of each setting: expected gain over what is reached already, for the part of the time that it could take
  /// beside that; of energy times time to the power of `delay`.
  [[nodiscard]] Eigen::VectorXd expected_gains(const Reached& reached, double delay, double host_share) const;
  /// Standard deviation of how much the job itself drifts, as a fraction.
  [[nodiscard]] double drift() const { return drift_; }

 private:
  /// One quantity, of the mixture of curves.
  struct Quantity {
    Eigen::MatrixXd curves;  // as drawn: settings x curves
    Eigen::VectorXd scale;   // of what a curve may be wrong by, per setting
    Eigen::MatrixXd own;     // settings x suspicions: variance that a moved curve has left
    Eigen::VectorXd mean;    // of the mixture
    Eigen::VectorXd deviation;
  };
  struct Suspicion;
  [[nodiscard]] static double expected_drift(std::span<const Suspicion> all, double likeliest);
  static void join_where_drift_tells_nothing(std::vector<Suspicion>& all);
  static void move(Quantity& q, const SeenStretches& stretches, const SeenValues& values,
                   const Explained& explained, const std::vector<Eigen::Index>& kept,
                   Eigen::Ref<Eigen::MatrixXf> moved, Eigen::Index suspicion);
  [[nodiscard]] Eigen::VectorXd deviation_of(const Eigen::MatrixXf& curves, const Eigen::MatrixXd& own,
                                             const Eigen::VectorXd& mean) const;
  [[nodiscard]] static Eigen::Index index(std::size_t i) { return static_cast<Eigen::Index>(i); }

  std::vector<predict::KnobPoint> at_;
  std::size_t found_;
  Eigen::MatrixXd places_;  // settings x knobs: logarithms over the highest
  Quantity time_;
  Quantity power_;
  Eigen::VectorXd weight_;                  // of the kept curves
  Eigen::VectorXd suspected_;               // of each suspicion: the sum of its curves'
  std::vector<Eigen::Index> suspicion_of_;  // each
  SeenStretches seen_;
  std::vector<Explained> explained_;  // of time, by suspicion
  // Settings x kept curves, moved to what was seen; columns may be left over. In single precision, of which
  // processors do several at once: what is read of them is right to parts in a million, and nothing is
  // decided by so little.
  Eigen::MatrixXf times_;     // logarithms
  Eigen::MatrixXf energies_;  // over the found setting's
  Eigen::VectorXd energy_;    // of the mixture
  Eigen::VectorXd energy_deviation_;
  double drift_ = 0;
};

}  // namespace rubato::plan
