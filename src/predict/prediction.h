// What a model says of several settings at once: a joint distribution, not only points.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <vector>

#include "predict/curve.h"

namespace rubato::predict {

/// Half of the central 90 % of a normal distribution, in standard deviations: 90 % intervals everywhere.
inline constexpr double kHalfWidth90 = 1.6448536269514722;

/// Logarithms of time and energy over those at the default setting, jointly normal over n settings:
///   log(time_i)   = log_time_i   + (time_factor * z)_i   + time_own_i * u_i
///   log(energy_i) = log_energy_i + (energy_factor * z)_i + energy_own_i * v_i
/// with z (r), u and v (n) standard normal. The factors hold what settings share (one workload's compute
/// share moves them all); `own` what each has alone. exp of the centres are medians. These are the true
/// values: the noise of one more measurement is in `measurement_noise`.
struct Prediction {
  std::vector<KnobPoint> at;
  Eigen::VectorXd log_time;       // n
  Eigen::VectorXd log_energy;     // n
  Eigen::MatrixXd time_factor;    // n x r
  Eigen::MatrixXd energy_factor;  // n x r
  Eigen::VectorXd time_own;       // n, standard deviations
  Eigen::VectorXd energy_own;     // n
  struct Noise {
    double time = 0;    // relative standard deviation of one row as such tables hold it
    double energy = 0;  // the same
  } measurement_noise;

  [[nodiscard]] std::size_t size() const { return at.size(); }
  [[nodiscard]] double time_deviation(std::size_t i) const;    // of log time
  [[nodiscard]] double energy_deviation(std::size_t i) const;  // of log energy
  [[nodiscard]] double edp_deviation(std::size_t i) const;     // of the sum of both
};

}  // namespace rubato::predict
