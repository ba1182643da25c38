// The physical curve of one workload: time and power at any setting of the three knobs, from a dozen latent
// parameters. docs/prediction.md#physical-curves says what each of them stands for.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <span>

namespace rubato::predict::physical {

/// Unbounded coordinates: logarithms of factors, logits of shares.
enum Parameter : Eigen::Index {
  log_time,       // of the true time at the default over the measured one
  log_power,      // of the power no limit holds back over the measured one
  compute_share,  // of the work that waits for the SMs against that which waits for memory
  fixed_share,    // of the time that no clock changes
  static_share,   // of the power that no clock changes
  memory_share,   // of the rest that memory draws
  work_coupling,  // of the SMs' power that goes with work done, not with time
  voltage_knee,   // SM clock over the highest, below which the voltage stays
  voltage_floor,  // that voltage over the highest one
  phase_spread,   // log of the deviation of log power between the phases of an iteration
  clock_floor,    // SM clock over the highest, below which requests are not honoured
  sharpness,      // log of the exponent that turns two bounds into one time, less one
  cap_margin,     // log of the power the limiter allows over the one asked for
  parameter_count,
};

inline constexpr int kParameters = static_cast<int>(parameter_count);
using Parameters = Eigen::Matrix<double, kParameters, 1>;
using ParameterMatrix = Eigen::Matrix<double, kParameters, kParameters>;

/// Where the curve is asked: clocks over the highest ones, a limit over the power measured at the default.
struct Situation {
  double sm = 1;
  double memory = 1;
  double bandwidth = 1;  // memory throughput beyond what its clock says
  std::optional<double> cap;
};

/// Logarithms of time and of power (n of each, time first) over those measured at the default.
[[nodiscard]] Eigen::VectorXd responses(const Parameters& workload, std::span<const Situation> at);

/// Of the workload that at the last of `at`, the default, draws what was measured there, as far as its limit
/// lets that be told: `workload` in everything but `log_power`.
[[nodiscard]] Eigen::VectorXd responses_brought(Parameters workload, std::span<const Situation> at);

/// As `responses`, and its slopes by every parameter: 2n x kParameters.
struct Slopes {
  Eigen::VectorXd value;
  Eigen::MatrixXd slope;
};
[[nodiscard]] Slopes slopes(const Parameters& workload, std::span<const Situation> at);

}  // namespace rubato::predict::physical
