// Many curves a workload may have, drawn from what is believed before any of its settings was measured: for
// searches that weigh whole curves, where one normal distribution would be too plain.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <span>

#include "base/random.h"
#include "base/result.h"
#include "predict/model.h"

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

/// Of what a model says.
[[nodiscard]] Draws draw_from(const Prediction& believed, std::size_t curves, Random& random);

}  // namespace rubato::predict
