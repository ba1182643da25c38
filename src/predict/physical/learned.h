// What the training curves of a GPU taught: the population of workloads, the GPU's pattern, and the noise;
// and what follows from it for one workload.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "predict/physical/covariates.h"
#include "predict/physical/pattern.h"
#include "predict/physical/posterior.h"
#include "predict/physical/question.h"

namespace rubato::predict::physical {

struct Learned {
  Schema schema;
  Standardised standardised;
  Trained trained;
  std::vector<Regression> regressions;    // one per parameter; none: nothing was learned, the prior stands
  std::optional<Regression> noisiness;    // log of a workload's noise variance over the table's
  ParameterMatrix spread;                 // between workloads of a group not seen
  Eigen::Vector2d noise{4e-4, 4e-4};      // variance of one row: log time, log power
  Eigen::Vector2d departure{1e-4, 1e-4};  // variance of what a workload's curve departs from its shape
  Pattern pattern;
  /// By which the intervals of time and energy must grow to hold 90 % of the groups left out, by probes.
  std::vector<std::array<double, 2>> widening;

  /// Before any curve was seen.
  [[nodiscard]] static Learned nothing();
  /// What is believed of a workload before its settings are looked at, and its noise over the table's.
  struct Expectation {
    Belief belief;
    double noise = 1;
  };
  [[nodiscard]] Expectation expected(const Known& known) const;
};

/// Rows that were measured, and where an answer is wanted.
struct Measured {
  std::vector<Place> places;
  std::vector<Situation> situations;  // as asked, before the pattern
  Eigen::VectorXd value;              // 2n
  Eigen::VectorXd noise;              // 2n variances
};

struct Answer {
  Eigen::VectorXd log_time;
  Eigen::VectorXd log_energy;
  Eigen::MatrixXd time_factor;  // n x r
  Eigen::MatrixXd energy_factor;
  Eigen::VectorXd time_own;
  Eigen::VectorXd energy_own;
};
/// The intervals are not widened yet.
[[nodiscard]] Answer answer(const Learned& learned, const Belief& before, const Measured& measured,
                            const Asked& wanted);

[[nodiscard]] Evidence evidence_of(const Learned& learned, const Measured& measured);

}  // namespace rubato::predict::physical
