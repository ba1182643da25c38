// Which candidate to believe: boosted trees over their traits (Friedman 2001), learnt on generated
// development traces by tools/train-period-ranking; the held-out seeds of docs/evidence/periods.md had no
// part in it.
#pragma once

#include "progress/period/traits.h"

namespace rubato::progress {

/// Chance, 0 to 1, that the candidate is the iteration, within 5 %.
[[nodiscard]] double chance_of_iteration(const Traits& traits);

}  // namespace rubato::progress
