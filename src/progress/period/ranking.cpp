#include "progress/period/ranking.h"

#include <array>
#include <cmath>
#include <cstdint>

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

constexpr std::array kTrees = std::to_array<Tree>({
#include "progress/period/ranking_trees.inc"
});

}  // namespace

double chance_of_iteration(const Traits& traits) {
  double margin = 0;
  for (const Tree& tree : kTrees) {
    std::size_t at = 0;
    for (std::size_t level = 0; level < kDepth; ++level)
      at = 2 * at + (traits[tree.trait[at]] < tree.threshold[at] ? 1 : 2);
    margin += tree.leaf[at - kSplits];
  }
  return 1 / (1 + std::exp(-margin));
}

}  // namespace rubato::progress
