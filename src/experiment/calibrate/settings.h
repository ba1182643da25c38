// Under which settings a GPU is calibrated.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "core/setting.h"
#include "predict/curve.h"

namespace rubato::experiment {

/// What one GPU can be set to.
struct KnobRanges {
  std::optional<PowerLimits> limits;  // absent: cannot be set here
  std::vector<Megahertz> sm;          // ascending; empty: cannot be locked
  std::vector<Megahertz> memory;
};

inline constexpr unsigned kSettingsPerKnob = 8;

/// Each knob by itself, evenly from end to end, the others left alone: that tells what every knob does
/// without measuring a grid. SM clocks begin at a third of the highest: below, boards stop honouring
/// requests. What is in force as found is left out. not_supported names the knob that this GPU lacks;
/// invalid_argument: no such knob here.
[[nodiscard]] Result<std::vector<predict::KnobPoint>> calibration_settings(
    std::span<const Knob> knobs, const KnobRanges& ranges, unsigned per_knob = kSettingsPerKnob);
/// Power limit and SM clock, as far as the GPU has them.
[[nodiscard]] std::vector<Knob> usual_knobs(const KnobRanges& ranges);

}  // namespace rubato::experiment
