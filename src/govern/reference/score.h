// What a published search makes small, and inside which bound: costs over the baseline's.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "core/objective.h"
#include "govern/tally.h"

namespace rubato::govern {

struct Aim {
  int time_power = 0;   // energy x time^n: 0 energy, 1 EDP, 2 ED2P
  Watts beside;         // counted with the board's: a host's; negative: idle watts that are taken off
  double bound = 0.05;  // on the loss
};

/// rubato's goal: board and host joules, and its bound.
[[nodiscard]] Aim aim_of(const Goal& goal);

struct Score {
  double loss = 0;    // time over the baseline's, less one
  double reward = 1;  // over the baseline's: less is better
  bool feasible = true;
};

/// Both feasible: less reward; neither: less loss; else the feasible one (gpoeo, StateReward).
[[nodiscard]] bool better(const Score& a, const Score& b);
/// The least reward among the feasible; nothing where none is.
[[nodiscard]] std::optional<std::size_t> best_of(std::span<const Score> scores);

/// Costs here have an energy: the shell ends a search where it cannot be read.
class Scale {
 public:
  Scale(const Aim& aim, const Cost& baseline) : aim_(aim), baseline_(baseline) {}

  [[nodiscard]] Score of(Seconds time, Joules energy) const;
  [[nodiscard]] Score of(const Cost& cost) const { return of(cost.time, *cost.energy); }

 private:
  Aim aim_;
  Cost baseline_;
};

}  // namespace rubato::govern
