// In which order a sweep measures: rounds of settings with control runs at the found setting between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace rubato::experiment {

enum class SweepOrder {
  random,       // every round in an order of its own: nothing that drifts can look like a knob's effect
  interleaved,  // rounds up and down in turns: a steady drift cancels after each pair of rounds
  ascending,    // all repeats of one setting, then the next higher one: the GPU's temperature follows
};

[[nodiscard]] std::string_view name_of(SweepOrder order);
[[nodiscard]] Result<SweepOrder> parse_sweep_order(std::string_view name);

struct SweepStep {
  std::optional<std::size_t> point;  // of the grid; absent: a control run, as the GPU was found
  unsigned repeat = 0;               // of that point, or the how-manieth control
  bool operator==(const SweepStep&) const = default;
};

struct ScheduleOptions {
  SweepOrder order = SweepOrder::random;
  unsigned repeats = 1;
  unsigned control_every = 4;  // settings between two controls, at most; fewer in a short sweep
  std::uint64_t seed = 1;
};

/// Begins and ends with a control; the same options give the same steps, so that a sweep can go on where it
/// was interrupted.
[[nodiscard]] std::vector<SweepStep> sweep_schedule(std::size_t points, const ScheduleOptions& options);

}  // namespace rubato::experiment
