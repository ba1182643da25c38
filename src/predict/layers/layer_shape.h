// One layer: from the shapes it takes to the shape it gives, its parameters and its operations.
#pragma once

#include <span>

#include "base/result.h"
#include "predict/layers/shapes.h"

namespace rubato::predict {

/// Of a known kind; the layer's own outright figures are not looked at.
[[nodiscard]] Result<ShapedLayer> shape_of(const NetworkLayer& layer, std::span<const Shape> in);

}  // namespace rubato::predict
