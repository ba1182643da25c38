// One stage of a measured pipeline as what a plan over layers chooses from.
#pragma once

#include <cstddef>

#include "base/result.h"
#include "plan/layers/segments.h"
#include "plan/pipeline/stage_profile.h"

namespace rubato::experiment {

/// Its forwards and backwards in the order of 1F1B (warm-up, by turns, drain), without the time in which it
/// waits for its neighbours. The default is the highest clock; arithmetic intensity is not known (0). A clock
/// that one pass lacks cannot be chosen for it. invalid_argument: no such stage, no micro-batch.
[[nodiscard]] Result<plan::SegmentTable> stage_segments(const plan::StageProfile& profile, std::size_t stage,
                                                        unsigned microbatches, Megahertz memory);

}  // namespace rubato::experiment
