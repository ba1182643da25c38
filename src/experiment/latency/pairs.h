// Which changes of clocks are timed: few, and every kind of them.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "experiment/latency/change.h"

namespace rubato::experiment {

inline constexpr unsigned kUsualPairs = 12;

/// Between SM clocks of `table` (ascending), from a third of its highest, below which boards stop honouring
/// requests, to `highest`, at one memory clock: the full range, half of it, and single steps, each up and
/// down; more than kUsualPairs: between clocks in between. Fewer where the table has no more.
[[nodiscard]] std::vector<ClockPair> usual_pairs(std::span<const Megahertz> table, Megahertz highest,
                                                 Megahertz memory, unsigned count = kUsualPairs);
/// Each of `memory` clocks (ascending) to the next and back, and the full range, at one SM clock.
[[nodiscard]] std::vector<ClockPair> memory_pairs(std::span<const Megahertz> memory, Megahertz sm);
/// "900:1500,1500:900", in MHz, at one memory clock; not_found names the nearest clock of the table.
[[nodiscard]] Result<std::vector<ClockPair>> parse_pairs(std::string_view text,
                                                         std::span<const Megahertz> table, Megahertz memory);

}  // namespace rubato::experiment
