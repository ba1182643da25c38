// Replays of one strategy over many jobs, summed up.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lab/oracle.h"
#include "lab/replay.h"

namespace rubato::lab {

struct Row {
  std::size_t job = 0;  // in the list that was run
  std::uint64_t seed = 0;
  Oracles oracles;
  Replayed run;
};

/// Means over the rows. A ratio of means is missing where the oracle saves nothing.
struct Score {
  double saving = 0;
  double fixed_oracle_saving = 0;
  double mixed_oracle_saving = 0;
  std::optional<double> captured;           // saving over that of the fixed oracle
  std::optional<double> captured_of_mixed;  // over that of the mixed one
  double slowdown = 0;
  double slowdown_max = 0;
  std::optional<double> worst_running_slowdown;
  std::int64_t bound_violations = 0;  // rows whose whole run exceeds the bound
  double excess = 0;                  // over the bound; a row inside it counts as zero
  double settings_tried = 0;
  double settings_rechecked = 0;
  double changes = 0;
  std::int64_t settled = 0;  // rows that came to hold a setting
  std::optional<double> settled_after;
};

/// At least one row.
[[nodiscard]] Score score(std::span<const Row> rows, double max_slowdown);

}  // namespace rubato::lab
