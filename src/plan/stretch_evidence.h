// What stretches of a run, each at one setting, tell of curves over all settings: how alike any two of them
// are, and how well a curve explains them all.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/units.h"

namespace rubato::plan {

/// A stretch of the run at one setting, per unit of work.
struct MeasuredStretch {
  std::size_t at = 0;  // the setting
  Seconds span;        // from its first moment to its last
  Seconds when;        // its middle, since the job began
  int era = 0;         // between eras the job's own cost jumped
  /// Of a mean over many moments at each of which all settings of the era were compared: what drift leaves in
  /// it, as a variance over the drift's own. Nothing: a stretch, where it lies in time says it.
  std::optional<double> drifted;
  double work = 0;
  double log_time = 0;  // of its mean, in seconds
  double time_variance = 0;
  double log_power = 0;  // in watts
  double power_variance = 0;
};

/// Of what drifts with a job, the correlation between its means over two stretches of one era.
[[nodiscard]] double drift_together(const MeasuredStretch& a, const MeasuredStretch& b);

/// Correlation of what a curve is wrong by at two settings; `places` are settings x knobs, in logarithms.
[[nodiscard]] double alike(const Eigen::MatrixXd& places, Eigen::Index a, Eigen::Index b);

/// How much a job may drift, and settle in its first minutes: standard deviations, as fractions.
struct Unrest {
  double drift = 0;
  double warm_up = 0;
};

/// Which stretches were seen, whatever was measured in them.
struct SeenStretches {
  std::vector<Eigen::Index> places;  // settings that were seen, each once
  std::vector<Eigen::Index> at;      // of each stretch: its place
  Eigen::MatrixXd alike;             // settings x places: correlation of what a curve is wrong by
  // Stretches x stretches, zero between eras.
  Eigen::MatrixXd same_era;
  Eigen::MatrixXd drifted;  // correlation
  Eigen::MatrixXd warming;  // of what settles in the job's first minutes
};

/// What was seen of one quantity, as logarithms, and what the drawn curves say of it.
struct SeenValues {
  Eigen::VectorXd value;  // over that of the first row
  Eigen::VectorXd variance;
  // Of the drawn curves at the places that were seen. They enter by nothing else, so that all that is asked
  // of each of hundreds of curves is quadratic in the places and not in the stretches.
  Eigen::VectorXd mean;
  Eigen::MatrixXd off;  // places x curves, over the mean
};

/// How well each drawn curve explains what was seen, and what moves it there.
struct Explained {
  Eigen::MatrixXd precision;  // places x places: what the stretches tell of each together with each
  Eigen::VectorXd told;       // precision times how far what was seen lies over the mean curve
  Eigen::VectorXd score;      // of each curve, logarithm
  double misfit = 1;
};

/// `places` are settings x knobs, in logarithms.
[[nodiscard]] SeenStretches seen_stretches(std::span<const MeasuredStretch> seen,
                                           const Eigen::MatrixXd& places);
/// `curves` are settings x curves, as logarithms over the found setting.
[[nodiscard]] SeenValues seen_values(std::span<const MeasuredStretch> seen, const SeenStretches& stretches,
                                     double MeasuredStretch::*log_value, double MeasuredStretch::*variance,
                                     const Eigen::MatrixXd& curves);
/// A Gaussian process beside each curve, over what a curve may be wrong by (`misfit` times `scale`, per
/// setting), the level, and what is not at rest. Where rounding has made its covariance indefinite no score
/// is finite.
[[nodiscard]] Explained explain(const Eigen::VectorXd& scale, const SeenStretches& stretches,
                                const SeenValues& values, const Unrest& unrest, double misfit);

}  // namespace rubato::plan
