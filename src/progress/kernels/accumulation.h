// Whether a unit that repeats is the iteration, or a micro-batch inside one: what comes after every k-th unit
// may be the optimizer's step, or something that is only now and then done (a log line, a scheduler, an
// evaluation).
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "base/units.h"
#include "progress/kernels/token_table.h"

namespace rubato::progress::kernels {

/// What comes regularly, but not in every unit.
struct NowAndThen {
  std::size_t units = 0;     // from one to the next
  std::size_t distance = 0;  // the same in launches
  double launches = 0;       // each time
  double unit_launches = 0;
  Seconds busy{0};  // each time
  Seconds unit_busy{0};
  Token last{};  // the last launch of it
};

/// Log odds that it is the optimizer's step and the units are micro-batches. By judgement, not fitted: people
/// accumulate over few batches and powers of two, and log every 10, 50 or 100; a step touches every parameter
/// and takes at least some thousandths of the unit's time, a log line a few short kernels.
[[nodiscard]] double log_odds_of_a_step(const NowAndThen& what);

struct Accumulation {
  std::optional<NowAndThen> step;  // absent: the unit is the iteration
  double chance = 1;               // that this is right
};

/// `busy_s` is each launch's own time.
[[nodiscard]] Accumulation find_accumulation(std::span<const Token> tokens, std::span<const double> busy_s,
                                             std::size_t unit);

}  // namespace rubato::progress::kernels
