// Many curves a workload may have, drawn from what is believed before any of its settings was measured: for
// searches that weigh whole curves, where one normal distribution would be too plain.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "predict/model.h"
#include "predict/physical/shape.h"

namespace rubato::predict {

/// Logarithms over those at the default: a row for each setting, a column for each curve.
struct Draws {
  Eigen::MatrixXd log_time;
  Eigen::MatrixXd log_power;
};

/// Of physical curves under the prior of data sheets and literature (docs/priors.md), each brought to draw at
/// the default what was measured there. Errors as of Model::predict.
[[nodiscard]] Result<Draws> draw_physical(const Known& known, std::span<const KnobPoint> at,
                                          std::size_t curves, Random& random);

/// The same, a few curves at a time: for a search of which no moment may take long.
class PhysicalDrawing {
 public:
  [[nodiscard]] static Result<PhysicalDrawing> begin(const Known& known, std::span<const KnobPoint> at,
                                                     std::size_t curves, Random& random);
  /// Cost: that of `curves` curves, as long as some are left.
  void draw(std::size_t curves);
  /// Draws those that are left.
  [[nodiscard]] Draws finish() &&;

 private:
  PhysicalDrawing() = default;

  std::vector<physical::Situation> situations_;  // the default is the last
  Eigen::MatrixXd normals_;                      // parameters x curves
  std::optional<double> waiting_;                // share of the time
  Eigen::Index drawn_ = 0;
  Draws draws_;
};

/// Of what a model says that settings share (its factors). What each setting has of its own is left out: who
/// uses the curves has to let each be a little wrong, as plan::CurveBelief does.
[[nodiscard]] Draws draw_from(const Prediction& believed, std::size_t curves, Random& random);

}  // namespace rubato::predict
