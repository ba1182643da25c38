// Which candidate to believe: boosted trees over their traits (Friedman 2001), learnt on generated
// development traces by tools/train-period-ranking; the held-out seeds of docs/evidence/periods.md had no
// part in it.
#pragma once

#include "progress/period/leaders.h"
#include "progress/period/traits.h"

namespace rubato::progress {

/// Chance, 0 to 1, that the candidate is the iteration, within 5 %.
[[nodiscard]] double chance_of_candidate(const Traits& traits);

/// The same of a candidate that was followed.
[[nodiscard]] double chance_of_leader(const LeaderTraits& traits);

/// Chance, 0 to 1, that the leader believed most is the iteration and one that the readings can show, rather
/// than wrong because they cannot. `chance` is the leader's, `rival` that of the next.
[[nodiscard]] double chance_resolved(const LeaderTraits& traits, double chance, double rival);

}  // namespace rubato::progress
