// The settings that are asked about: what a GPU accepts, thinned evenly to what a model answers at once.
#pragma once

#include <span>
#include <vector>

#include "core/setting.h"
#include "predict/curve.h"

namespace rubato::experiment {

inline constexpr std::size_t kMostCandidates = 600;

struct CandidateRanges {
  PowerLimits limits;
  std::vector<Megahertz> sm_clocks;      // what can be locked; empty: nothing
  std::vector<Megahertz> memory_clocks;  // the same
};

/// All combinations over `knobs`. Power limits in whole watts from the lowest to the one that was found,
/// never above: nobody asked for more power.
[[nodiscard]] std::vector<predict::KnobPoint> candidates(const CandidateRanges& ranges,
                                                         std::span<const Knob> knobs);

}  // namespace rubato::experiment
