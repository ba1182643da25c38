// The few candidates that the ranking puts first, each followed cycle by cycle: what can be asked of some,
// but would cost too much of all (leader_traits.h).
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "progress/period/cycle_tracker.h"
#include "progress/period/overtones.h"
#include "progress/period/traits.h"
#include "progress/period/undersampled.h"

namespace rubato::progress {

inline constexpr std::size_t kFollowedTraits = 60;
inline constexpr std::size_t kLeaderTraits = kTraits + kFollowedTraits;
using LeaderTraits = std::array<float, kLeaderTraits>;

struct Leader {
  std::size_t index = 0;  // among the candidates
  double period_s = 0;    // of that candidate
  Series level;           // own_level.h
  Followed followed;
  double length_s = 0;  // median of the cycles followed; the candidate's own period where there are too few
  Overtones overtones;  // of that length
  LeaderTraits traits{};
};

/// Whether it is another leader's cycle some times, which is no whole number of updates while these are: then
/// the same readings come back after so many cycles, and what lies between the harmonics is folded from above
/// (overtones.h).
[[nodiscard]] bool repeats_by_sampling(const Leader& leader, const std::vector<Leader>& leaders,
                                       double update_s);

/// Best first: at most four, no two of one length, the likeliest multiple of the first, and those that
/// earlier looks believed in. `traits` and `chances` are those of the candidates; `updates`: what the updates
/// make of the stretch, absent where there are too few.
[[nodiscard]] std::vector<Leader> leaders_of(const Samples& samples, const std::vector<Judged>& candidates,
                                             const std::vector<Traits>& traits,
                                             const std::vector<double>& chances,
                                             const std::optional<FoldedUpdates>& updates, const Span& span,
                                             const std::vector<double>& recalled_s = {});

}  // namespace rubato::progress
