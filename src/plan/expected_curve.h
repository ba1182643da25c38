// A belief of a whole curve as few enough points to be kept and drawn.
#pragma once

#include <cstddef>
#include <vector>

#include "core/expectation.h"
#include "plan/curve_belief.h"

namespace rubato::plan {

/// The curve: where one knob is all that differs, along it, from its highest value down; else the settings
/// that none is expected to be both faster and cheaper than, by time. Thinned to about 40 of them, evenly;
/// the found setting, `chosen` and those measured stay, and stand behind the curve where they are not on it.
/// `measured`: of each setting of the belief, whether a stretch of it was. Intervals are the belief's 90 %.
[[nodiscard]] Expectation expected_curve(const CurveBelief& belief, double max_slowdown, std::size_t chosen,
                                         const std::vector<bool>& measured);

}  // namespace rubato::plan
