#include "progress/period/ranking.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>

namespace rubato::progress {

namespace {

constexpr std::size_t kDepth = 5;
constexpr std::size_t kSplits = (1U << kDepth) - 1;

/// A whole binary tree: the children of split i are 2 i + 1, taken where the trait is below the threshold,
/// and 2 i + 2; after the last splits come the leaves.
struct Tree {
  std::array<std::uint8_t, kSplits> trait;
  std::array<float, kSplits> threshold;
  std::array<float, kSplits + 1> leaf;
};

constexpr std::array kCandidateTrees = std::to_array<Tree>({
#include "progress/period/candidate_trees.inc"
});

constexpr std::array kLeaderTrees = std::to_array<Tree>({
#include "progress/period/leader_trees.inc"
});

constexpr std::array kRecalledTrees = std::to_array<Tree>({
#include "progress/period/recalled_trees.inc"
});

constexpr std::array kResolvedTrees = std::to_array<Tree>({
#include "progress/period/resolved_trees.inc"
});

double chance_by(std::span<const Tree> trees, std::span<const float> traits) {
  double margin = 0;
  for (const Tree& tree : trees) {
    std::size_t at = 0;
    // Which side, no branch foretells.
    for (std::size_t level = 0; level < kDepth; ++level)
      at = 2 * at + 2 - static_cast<std::size_t>(traits[tree.trait[at]] < tree.threshold[at]);
    margin += tree.leaf[at - kSplits];
  }
  return 1 / (1 + std::exp(-margin));
}

}  // namespace

double chance_of_candidate(const Traits& traits) {
  return chance_by(kCandidateTrees, traits);
}

double chance_of_leader(const LeaderTraits& traits) {
  return chance_by(kLeaderTrees, traits);
}

double chance_recalled(const LeaderTraits& traits, const RecallTraits& recalled) {
  std::array<float, kLeaderTraits + kRecallTraits> all{};
  std::copy(recalled.begin(), recalled.end(), std::copy(traits.begin(), traits.end(), all.begin()));
  return chance_by(kRecalledTrees, all);
}

double chance_resolved(const LeaderTraits& traits, const RecallTraits& recalled, double chance,
                       double rival) {
  std::array<float, kLeaderTraits + kRecallTraits + 2> all{};
  auto* at =
      std::copy(recalled.begin(), recalled.end(), std::copy(traits.begin(), traits.end(), all.begin()));
  *at++ = static_cast<float>(chance);
  *at = static_cast<float>(rival);
  return chance_by(kResolvedTrees, all);
}

}  // namespace rubato::progress
