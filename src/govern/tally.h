// Work, time and energy counted up to one instant: what a stretch of the run cost is the difference of two.
#pragma once

#include <optional>

#include "base/clock.h"
#include "base/units.h"

namespace rubato::govern {

struct Tally {
  double work = 0;  // iterations; where nothing tells of them, progress in a unit of its own
  TimePoint at;
  std::optional<Joules> energy;  // since the run began, of all GPUs that are steered together
  // Of the above: evaluations, checkpoints and other pauses between iterations, which no setting is judged
  // by.
  Seconds outside{};
  Joules energy_outside{};
};

/// Per unit of work.
struct Cost {
  double work = 0;  // units it was measured over
  Seconds time;
  std::optional<Joules> energy;
};

/// `to` is later and holds more work.
[[nodiscard]] inline Cost cost_between(const Tally& from, const Tally& to) {
  Cost out{.work = to.work - from.work, .time = {}, .energy = std::nullopt};
  out.time = (to.at - from.at - (to.outside - from.outside)) / out.work;
  if (from.energy && to.energy)
    out.energy = (*to.energy - *from.energy - (to.energy_outside - from.energy_outside)) / out.work;
  return out;
}

}  // namespace rubato::govern
