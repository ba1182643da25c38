// What following a leader tells, as numbers: its cycles laid on each other, and the leaders held against each
// other. A second ranking is learnt on these (leader_trees.inc): change their order or meaning, and train
// anew (tools/train-period-ranking).
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "progress/period/leaders.h"

namespace rubato::progress {

/// The leader's own, and its length; it has been followed.
void describe(const Judged& judged, const std::optional<FoldedUpdates>& updates, const Span& span,
              Leader& leader);

/// Those that need all leaders, the best first. `chances` are those of all candidates.
void compare(const std::vector<Judged>& candidates, const std::vector<double>& chances, const Span& span,
             std::vector<Leader>& leaders);

/// Of the numbers that come after those of every candidate.
[[nodiscard]] std::span<const std::string_view, kFollowedTraits> followed_trait_names();

}  // namespace rubato::progress
