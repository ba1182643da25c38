// How unlike a workload is to those that were learnt from, by what its default shows.
#pragma once

#include <Eigen/Core>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "predict/curve.h"

namespace rubato::predict::combined {

/// Log power and features of the defaults, as standard scores.
struct Defaults {
  explicit Defaults(std::span<const Curve> curves);
  std::vector<std::string> features;  // that all of them have
  Eigen::RowVectorXd mean;            // 1 + features, power first
  Eigen::RowVectorXd deviation;
  Eigen::MatrixXd scores;  // curves x (1 + features)
};

class Likeness {
 public:
  Likeness() = default;  // nothing is unlike
  explicit Likeness(std::span<const Curve> curves);

  /// 0: no farther from what was learnt from than three quarters of those workloads are from the other
  /// groups; 1: twice as far, or farther, or a feature is missing.
  [[nodiscard]] double unlike(const Known& known) const;

  [[nodiscard]] nlohmann::json state() const;
  [[nodiscard]] static Result<Likeness> read(const nlohmann::json& state);

 private:
  std::vector<std::string> features_;
  Eigen::RowVectorXd mean_;
  Eigen::RowVectorXd deviation_;
  Eigen::MatrixXd seen_;  // workloads x (1 + features)
  double usual_ = 0;      // root mean square score to the nearest; 0: nobody knows
};

}  // namespace rubato::predict::combined
