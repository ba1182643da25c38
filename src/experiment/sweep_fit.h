// Least squares over the runs of a sweep: each stretch has a baseline of its own, each setting an effect on
// it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace rubato::experiment {

struct FitRun {
  std::size_t stretch = 0;
  std::size_t setting = 0;  // 0: the default
  double position = 0;      // in its stretch, in runs
  double value = 0;         // a logarithm
};

/// value = baseline of the stretch (+ slope × position) + effect of the setting + scatter of one run.
struct SweepFit {
  std::vector<double> effects;     // over the default, by setting; the first is 0
  std::vector<double> covariance;  // of any two effects, row by row, where one run's variance is 1
  double degrees = 0;              // of freedom: runs less what is fitted to them
  double squares = 0;              // sum over what the fit leaves

  /// Of the difference between two effects, where one run's variance is 1. Two settings of one stretch differ
  /// by their own runs alone; those of two stretches by both stretches' controls as well.
  [[nodiscard]] double variance_between(std::size_t a, std::size_t b) const;
};

/// Every stretch in `drifts` (true: it has a slope) must hold a run of the default, at several positions
/// where it has a slope; every setting must have a run.
[[nodiscard]] SweepFit fit_sweep(std::span<const FitRun> runs, std::size_t settings,
                                 const std::vector<bool>& drifts);

}  // namespace rubato::experiment
