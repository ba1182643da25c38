// What old stretches tell of the settings against one another, in one row a setting: however long the run and
// however often the job's own cost changed, what was learned is kept and stays small.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "plan/curve_belief.h"

namespace rubato::govern {

class Contrasts {
 public:
  /// Of rows in one era; they lie in no run's.
  static constexpr int kEra = -1;

  explicit Contrasts(std::size_t found) : found_(found) {}

  /// A stretch at the found setting and others beside it in time and of its era. Levels of different groups
  /// are brought together by what they share (least squares over levels and settings); only how the settings
  /// differ is kept. `drift_per_unit`: the variance of what drifts with the job over that of a single unit of
  /// work.
  void add(const plan::MeasuredStretch& at_found, std::span<const plan::MeasuredStretch> beside,
           double drift_per_unit);
  void forget(std::size_t setting);
  /// The setting that least is known of, if that is less than so much work tells. False: there is none.
  bool drop_below(double work);
  void clear() { start({}); }
  /// Of each setting's work only so much counts from now on.
  void weaken(const std::map<std::size_t, double>& part_of);

  /// One a setting, the found one first; variances not filled in. A row's error beside the found setting's is
  /// that of their difference: a setting that entered late knows the level by its own groups alone.
  [[nodiscard]] const std::vector<plan::MeasuredStretch>& rows() const { return rows_; }
  [[nodiscard]] std::size_t size() const { return rows_.size(); }

 private:
  /// The found setting first, each setting once.
  void add_group(std::span<const plan::MeasuredStretch> group);
  Eigen::Index place_of(const plan::MeasuredStretch& mean);
  /// From nothing, with these rows as if they had been one group.
  void start(const std::vector<plan::MeasuredStretch>& rows);
  void solve();

  std::size_t found_;
  double drift_per_unit_ = 0;
  std::vector<plan::MeasuredStretch> rows_;
  // Normal equations of the settings, with each group's level eliminated.
  Eigen::MatrixXd told_;   // settings x settings: weights
  Eigen::MatrixXd sums_;   // settings x 2: of logarithms of time and power
  Eigen::MatrixXd noise_;  // settings x settings: what scatter makes the sums vary together by, in one unit's
  Eigen::MatrixXd drift_;  // likewise what drifts does, in the drift's own
};

}  // namespace rubato::govern
