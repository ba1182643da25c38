// How wrong a point predictor is, learned from workloads it had not seen: by distance from the default,
// together over settings and over time and energy. Turns points into a joint distribution, and measured
// settings into better points.
#pragma once

#include <Eigen/Core>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "base/result.h"
#include "predict/prediction.h"
#include "predict/trees/spread.h"

namespace rubato::predict::trees {

/// Rows of `place`: ln of each knob over the default; the default's own row is all 0.
struct Residuals {
  Eigen::MatrixXd place;   // settings x knobs
  Eigen::VectorXd time;    // ln(measured) - ln(predicted)
  Eigen::VectorXd energy;  // the same
};

/// A Gaussian process: deviation(distance)^2 x ((1 - noise) exp(-|a - b|^2 / 2 reach^2) + noise [a = b]), for
/// time and energy, whose shared parts are correlated.
class ResidualModel {
 public:
  /// One entry per held-out workload, its default among its rows; at least one with two rows. `groups`: of
  /// how many kinds they are; the fewer, the wider the intervals (Student's t).
  [[nodiscard]] static ResidualModel learn(std::span<const Residuals> held_out, std::size_t groups);
  [[nodiscard]] static Result<ResidualModel> read(const nlohmann::json& state);
  [[nodiscard]] nlohmann::json state() const;

  /// `log_time` and `log_energy` as predicted at `place`; `measured`: what is known at other settings, the
  /// default among them. Fills everything of a Prediction but `at`; the default itself is exact.
  [[nodiscard]] std::size_t knobs() const { return static_cast<std::size_t>(anchors_.cols()); }
  [[nodiscard]] Prediction apply(const Eigen::MatrixXd& place, const Eigen::VectorXd& log_time,
                                 const Eigen::VectorXd& log_energy, const Residuals& measured) const;

 private:
  [[nodiscard]] Eigen::MatrixXd shared(const Eigen::MatrixXd& place) const;
  void calibrate(std::span<const Residuals> held_out, std::size_t groups);
  /// |error| over what was believed of it, for time and energy, each workload's `probes` least known settings
  /// measured.
  [[nodiscard]] std::pair<std::vector<double>, std::vector<double>> standardised(
      std::span<const Residuals> held_out, std::size_t probes) const;
  void choose_reach(std::span<const Residuals> held_out);
  void place_anchors(std::span<const Residuals> held_out);
  void factorise();

  Spread time_;
  Spread energy_;
  double reach_ = 1;
  double correlation_ = 0;
  double time_probed_ = 1;  // what deviations are multiplied with once a probe is known
  double energy_probed_ = 1;
  Eigen::MatrixXd anchors_;    // settings the shared part is spanned by (Nystrom)
  Eigen::MatrixXd whitening_;  // of the anchors' kernel, transposed inverse of its Cholesky factor
};

}  // namespace rubato::predict::trees
