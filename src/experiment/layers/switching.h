// What changing clocks costs, for a plan over layers: from published figures of the board or from what was
// measured on it.
#pragma once

#include <functional>
#include <span>

#include "core/board_figures.h"
#include "plan/layers/segments.h"

namespace rubato::experiment {

struct LatencyTable;  // experiment/latency/latency_file.h

struct SwitchCosts {
  Seconds delay;         // from a request to the new clocks
  Seconds memory_stall;  // the GPU does nothing while the memory clock changes
};

/// The typical delay of the board's model, no stall for SM clocks, an assumed one for memory clocks
/// (docs/layer-costs.md).
[[nodiscard]] SwitchCosts published_switch_costs(const BoardFigures& board);

/// The same delay between all settings, and a dwell as long: a request before the last has been met would
/// replace it.
[[nodiscard]] plan::Switching switching_of(std::span<const predict::Clocks> settings,
                                           const BoardFigures& board, const SwitchCosts& costs);
/// Of each pair its own. Both: power while stalled is that of the default clocks without work.
using DelayBetween = std::function<Seconds(const predict::Clocks& from, const predict::Clocks& to)>;
[[nodiscard]] plan::Switching switching_of(std::span<const predict::Clocks> settings,
                                           const BoardFigures& board, const DelayBetween& delay,
                                           Seconds memory_stall);
/// As measured on this GPU, and the assumed stall of memory clocks, which is not measured.
[[nodiscard]] plan::Switching switching_of(std::span<const predict::Clocks> settings,
                                           const BoardFigures& board, const LatencyTable& measured);

}  // namespace rubato::experiment
