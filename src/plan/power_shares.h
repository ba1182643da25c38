// How a budget of watts is divided among boards: evenly, so that all run equally fast, or so that together
// they run fastest. Pure arithmetic; limits are whole watts where a board's ends allow.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace rubato::plan {

/// What a board's power limit may be.
struct BoardRange {
  Watts least;
  Watts most;  // not below `least`
};

/// What watts buy on a board, near where it was measured: rate = exp(log_rate) * (watts / at)^slope. Rates of
/// boards that wait for each other are of the same work; of others each is over its own at some reference.
struct BoardCurve {
  Watts at;
  double log_rate = 0;
  double slope = 0.5;  // above 0, below 1
};

/// The least that these boards can be held to together.
[[nodiscard]] Watts sum_of_least(std::span<const BoardRange> boards);

// Of the three below: the sum is at most `budget`, and every share is inside its range. As much is given out
// as ranges and whole watts allow. A budget below sum_of_least() gives the least of each.

/// The same for all, but for those whose range ends before.
[[nodiscard]] std::vector<Watts> even_shares(std::span<const BoardRange> boards, Watts budget);

/// Equal rates: boards that wait for each other lose the least time so, as the slowest sets the pace.
[[nodiscard]] std::vector<Watts> equal_rate_shares(std::span<const BoardRange> boards,
                                                   std::span<const BoardCurve> curves, Watts budget);

/// The largest sum of rates: where no board waits for another a watt belongs where it buys most, so all are
/// at the same price of a watt (Lagrange).
[[nodiscard]] std::vector<Watts> most_rate_shares(std::span<const BoardRange> boards,
                                                  std::span<const BoardCurve> curves, Watts budget);

}  // namespace rubato::plan
