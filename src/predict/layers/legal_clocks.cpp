#include <algorithm>
#include <cmath>

#include "predict/layers/layer_costs.h"

namespace rubato::predict {
namespace {

// Indices evenly over all, ends kept.
std::vector<std::size_t> spread(std::size_t count, std::size_t most) {
  std::vector<std::size_t> out;
  if (most == 0 || most >= count) {
    for (std::size_t i = 0; i < count; ++i) out.push_back(i);
  } else if (most == 1) {
    out.push_back(count - 1);
  } else {
    for (std::size_t i = 0; i < most; ++i)
      out.push_back((2 * i * (count - 1) + most - 1) / (2 * (most - 1)));  // rounded
  }
  return out;
}

}  // namespace

std::vector<Clocks> legal_clocks(const BoardFigures& board, bool memory_clocks, std::size_t most) {
  std::vector<Clocks> out;
  for (const auto& at : board.clocks) {
    const bool at_default = at.clock == board.memory_default;
    if (!at_default && !(memory_clocks && board.has_memory_lock)) continue;
    std::vector<Megahertz> chosen;
    if (board.has_sm_lock) {
      for (const std::size_t i : spread(at.sm_clocks.size(), most)) chosen.push_back(at.sm_clocks[i]);
    }
    // Where SM clocks cannot be locked, the board runs at its default or the highest that is legal there.
    const auto above = std::upper_bound(at.sm_clocks.begin(), at.sm_clocks.end(), board.sm_default);
    if (above != at.sm_clocks.begin()) chosen.push_back(*std::prev(above));
    std::sort(chosen.begin(), chosen.end());
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    for (const Megahertz sm : chosen) out.push_back({sm, at.clock});
  }
  return out;
}

}  // namespace rubato::predict
