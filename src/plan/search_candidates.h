// Which settings a search weighs, where there are too many to weigh them all.
#pragma once

#include <cstddef>
#include <vector>

#include "plan/knob_space.h"

namespace rubato::plan {

/// Every setting where there are at most `most`. Else up to half of them along each axis alone, the other
/// axes where they were found, in the hardware's own steps where that many fit, and the rest as `candidates`:
/// a thinned product alone steps over the bound by several percent of the time. Ascending, each once.
[[nodiscard]] std::vector<predict::KnobPoint> search_candidates(const KnobSpace& space, std::size_t most);

}  // namespace rubato::plan
