// What old stretches tell of the settings against one another, in one row a setting: however long the run and
// however often the job's own cost changed, what was learned is kept and stays small.
#pragma once

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
  /// differ is kept. Nothing happens where the group shares no setting with those before. `drift_per_unit`:
  /// the variance of what drifts with the job over that of a single unit of work.
  void add(const plan::MeasuredStretch& at_found, std::span<const plan::MeasuredStretch> beside,
           double drift_per_unit);
  void forget(std::size_t setting);
  /// The setting that least is known of, if that is less than so much work tells. False: there is none.
  bool drop_below(double weight);
  void clear() { rows_.clear(); }
  /// Of each setting's work only so much counts from now on.
  void weaken(const std::map<std::size_t, double>& part_of);

  /// One a setting; variances not filled in.
  [[nodiscard]] std::vector<plan::MeasuredStretch> rows() const;
  [[nodiscard]] std::size_t size() const { return rows_.size(); }

 private:
  struct Row {
    plan::MeasuredStretch mean;
    double weight = 0;  // work, less what drift takes of its worth
  };
  [[nodiscard]] Row* row_of(std::size_t setting);

  std::size_t found_;
  std::vector<Row> rows_;
};

}  // namespace rubato::govern
