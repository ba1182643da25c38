// Which candidate to believe: boosted trees over their traits (Friedman 2001), learnt on generated
// development traces by tools/train-period-ranking; the held-out seeds of docs/evidence/periods.md had no
// part in it.
#pragma once

#include "progress/period/leaders.h"
#include "progress/period/recall.h"
#include "progress/period/traits.h"

namespace rubato::progress {

/// Chance, 0 to 1, that the candidate is the iteration, within 5 %.
[[nodiscard]] double chance_of_candidate(const Traits& traits);

/// The same of a candidate that was followed.
[[nodiscard]] double chance_of_leader(const LeaderTraits& traits);

/// The same, with what earlier looks held to be the iteration.
[[nodiscard]] double chance_recalled(const LeaderTraits& traits, const RecallTraits& recalled);

/// Chance, 0 to 1, that the leader believed most is the iteration and one that the readings can show, rather
/// than wrong because they cannot. `chance` is the leader's, `rival` that of the next.
[[nodiscard]] double chance_resolved(const LeaderTraits& traits, const RecallTraits& recalled, double chance,
                                     double rival);

}  // namespace rubato::progress
