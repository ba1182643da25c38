// Where a setting and a workload stand, as numbers a linear model can use: hinges along each knob that vanish
// at the default, and what is known of the workload there.
#pragma once

#include <Eigen/Core>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "predict/curve.h"

namespace rubato::predict::shared_curve {

/// A clock counts from its highest value; a power limit from the power drawn at the default, because that is
/// where it begins to bite: the average may touch the limit well before its mean does.
class KnobBasis {
 public:
  /// invalid_argument: a knob whose highest value nobody knows, features that only some workloads have.
  [[nodiscard]] static Result<KnobBasis> learn(std::span<const Curve> curves, std::span<const Knob> knobs);
  [[nodiscard]] static Result<KnobBasis> read(const nlohmann::json& state);
  [[nodiscard]] nlohmann::json state() const;

  /// n x width(); the default's row would be zero.
  [[nodiscard]] Result<Eigen::MatrixXd> hinges(const Known& known, std::span<const KnobPoint> at) const;
  /// The hinges, and again times each covariate: n x columns().
  [[nodiscard]] Eigen::MatrixXd expand(const Eigen::MatrixXd& hinges,
                                       const Eigen::VectorXd& covariates) const;
  /// Standard scores within what was seen: default power, then features. invalid_argument names a missing
  /// feature.
  [[nodiscard]] Result<Eigen::VectorXd> covariates(const Known& known) const;

  [[nodiscard]] Eigen::Index width() const;
  [[nodiscard]] Eigen::Index columns() const;
  /// How many covariates there are.
  [[nodiscard]] Eigen::Index scores() const { return static_cast<Eigen::Index>(covariates_.size()); }
  [[nodiscard]] const std::vector<Knob>& knobs() const { return knobs_; }

 private:
  struct Axis {
    std::vector<double> knots;  // of the logarithm of the knob over its reference
    double softness = 0;        // over which a hinge bends
  };
  struct Covariate {
    std::string feature;  // empty: log default power (over the highest limit, where a limit is a knob)
    double mean = 0;
    double deviation = 1;
  };

  [[nodiscard]] Result<Eigen::MatrixXd> positions(const Known& known, std::span<const KnobPoint> at) const;
  [[nodiscard]] Result<double> raw(const Covariate& covariate, const Known& known) const;
  [[nodiscard]] bool caps() const;

  std::vector<Knob> knobs_;
  std::vector<Axis> axes_;
  std::vector<Covariate> covariates_;
};

}  // namespace rubato::predict::shared_curve
