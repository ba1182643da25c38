// What is believed of one setting, and what that makes of an objective: closed forms of log-normals.
#pragma once

#include <array>
#include <cstddef>

#include "core/objective.h"
#include "plan/choice.h"
#include "predict/prediction.h"

namespace rubato::plan {

/// Log time and log energy of one setting over the default's: jointly normal.
struct Belief {
  double time = 0;  // means
  double energy = 0;
  double time_variance = 0;
  double energy_variance = 0;
  double covariance = 0;
};

[[nodiscard]] Belief belief_at(const predict::Prediction& believed, std::size_t i);

/// An objective over the default's as a weighted sum of energy^e * time^t: two terms, because the host's
/// joules are watts times time. The weights add up to one.
class ObjectiveRatio {
 public:
  ObjectiveRatio(const Goal& goal, Watts board_at_default);

  [[nodiscard]] double mean(const Belief& belief) const;
  /// E[(1 - objective) where log time <= bound, else 0]: probability times saving, their correlation counted.
  [[nodiscard]] double saving_inside(const Belief& belief, double log_bound) const;
  /// Exact where one term counts; else of the log-normal with the same mean and variance (Fenton 1960).
  [[nodiscard]] Expected interval(const Belief& belief) const;

 private:
  struct Term {
    double weight;
    double energy_power;
    double time_power;
  };
  std::array<Term, 2> terms_{};
};

/// P(log time <= bound).
[[nodiscard]] double probability_inside(const Belief& belief, double log_bound);

/// Median and 90 % interval of a log-normal.
[[nodiscard]] Expected expected_of(double log_median, double variance);

}  // namespace rubato::plan
