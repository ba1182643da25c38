// One strategy steers one job from its first iteration to its last, in virtual time.
#pragma once

#include <cstdint>
#include <optional>

#include "govern/strategy.h"
#include "lab/cost_table.h"
#include "lab/job.h"
#include "lab/noise.h"

namespace rubato::lab {

/// The bound of the run so far is judged from here on: before it one try weighs too much.
inline constexpr Seconds kJudgedAfter{300};

struct Replayed {
  double saving = 0;    // of the energy of the whole run at the found setting, under the same draw
  double slowdown = 0;  // of its time
  /// Largest slowdown of the run so far, once it has lasted kJudgedAfter; nothing: it never did.
  std::optional<double> worst_running_slowdown;
  std::int64_t settings_tried = 0;            // distinct ones besides the found one, before the first hold
  std::int64_t settings_rechecked = 0;        // trials begun after it
  std::int64_t changes = 0;                   // of what is in force
  std::optional<std::int64_t> settled_after;  // iterations before the first hold; nothing: it never held
};

[[nodiscard]] Replayed replay(const Job& job, const CostTable& costs, const Draw& draw,
                              govern::Strategy& strategy, std::int64_t iterations, Watts host);

}  // namespace rubato::lab
