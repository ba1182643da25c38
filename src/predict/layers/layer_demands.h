// One layer in one pass: its operations and the bytes its kernels move.
#pragma once

#include <optional>

#include "core/layer_demand.h"
#include "predict/layers/shapes.h"

namespace rubato::predict {

struct PassConditions {
  double batch = 1;
  Precision precision = Precision::fp32;
};

[[nodiscard]] LayerDemand forward_of(const NetworkLayer& layer, const ShapedLayer& shaped,
                                     const PassConditions& how);

struct GradientWanted {
  bool of_input = true;
  bool of_parameters = true;
  unsigned summed = 1;  // gradients that arrive for its output, one from each layer that takes it
};
/// Nothing where no kernel runs.
[[nodiscard]] std::optional<LayerDemand> backward_of(const NetworkLayer& layer, const ShapedLayer& shaped,
                                                     const PassConditions& how, const GradientWanted& wanted);

[[nodiscard]] LayerDemand update_of(const std::string& layer, double parameters, Optimizer optimizer,
                                    Precision precision);

}  // namespace rubato::predict
