// A point of the knobs as what a GPU is asked for.
#pragma once

#include "core/setting.h"
#include "predict/curve.h"

namespace rubato::plan {

/// Clocks are locked to one value.
[[nodiscard]] Setting setting_of(const predict::KnobPoint& at);

}  // namespace rubato::plan
