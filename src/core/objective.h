// What a run is to make small, and inside which bound.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "base/units.h"

namespace rubato {

enum class Objective { energy, edp, ed2p, cost };

[[nodiscard]] std::string_view name_of(Objective objective);
[[nodiscard]] Result<Objective> parse_objective(std::string_view name);

struct Goal {
  Objective objective = Objective::energy;
  double max_slowdown = 0.05;       // fraction of the whole run's time
  std::optional<Watts> host_watts;  // draws on while the job waits: the floor of a second's price
};

}  // namespace rubato
