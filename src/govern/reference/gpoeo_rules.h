// GPOEO's rules for which memory clock and which SM clock to measure next (PyEPOpt.py), on gears alone.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "govern/reference/score.h"

namespace rubato::govern {

/// The score of a gear, or null where it is not measured yet.
using ScoreOf = std::function<const Score*(std::size_t gear)>;

/// Its neighbours on a knob of a few gears: up to two besides `start`. Nothing: all are measured.
[[nodiscard]] std::optional<std::size_t> next_memory_gear(std::size_t start, std::size_t count, double bound,
                                                          const ScoreOf& at);

struct GearRange {
  std::size_t lowest = 0;
  std::size_t top = 0;
  std::size_t radius = 1;  // of the bracket's steps
  /// Share of the reward that is no difference on the way down: where a limit above what the job draws does
  /// nothing, noise alone would end it. As published: none.
  double tie = 0;
};

/// A bracket around `start`, then a golden section inside it. Nothing: it is done.
[[nodiscard]] std::optional<std::size_t> next_clock_gear(std::size_t start, const GearRange& range,
                                                         double bound, const ScoreOf& at);

/// Gears of the bracket's steps: a tenth of all, or 15 % where the memory clock is lowered.
[[nodiscard]] std::size_t bracket_radius(std::size_t gears, bool memory_lowered);

/// Time and energy smoothed over the measured gears; the best gear between the lowest and the highest of
/// them, or the highest where none holds the bound.
struct MeasuredGear {
  std::size_t gear = 0;
  Cost cost;
};
[[nodiscard]] std::size_t smoothed_choice(const std::vector<MeasuredGear>& measured, const Scale& scale);

}  // namespace rubato::govern
