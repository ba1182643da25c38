// What old stretches tell of the settings against one another, in one row a setting: however long the run and
// however often the job's own cost changed, what was learned is kept and stays small.
#pragma once

#include <cstddef>
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
  /// differ is kept. Nothing happens where the group shares no setting with those before.
  void add(const plan::MeasuredStretch& at_found, std::span<const plan::MeasuredStretch> beside);
  void forget(std::size_t setting);
  void clear() { rows_.clear(); }

  /// Variances not filled in.
  [[nodiscard]] const std::vector<plan::MeasuredStretch>& rows() const { return rows_; }

 private:
  [[nodiscard]] plan::MeasuredStretch* row_of(std::size_t setting);

  std::size_t found_;
  std::vector<plan::MeasuredStretch> rows_;  // one a setting
};

}  // namespace rubato::govern
