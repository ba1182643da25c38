// Control blocks: found, other, other, found. What drifts steadily falls on both settings alike, so their
// difference is the setting's, and the drift can be told beside it.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "experiment/sweep_measurement.h"
#include "experiment/sweep_summary.h"

namespace rubato::experiment {

/// A mean over cycles with the half width of its 95 % interval (Student's t); absent: one cycle alone.
struct BlockMean {
  double value = 0;
  std::optional<double> half_width;
};

struct BlockEffect {
  std::size_t cycles = 0;  // used: all four of its blocks were
  BlockMean time;          // other over found, less one
  BlockMean energy;
  BlockMean time_drift;  // last found over first found of a cycle, less one
  BlockMean energy_drift;
};

/// `blocks` four by four, as measured; a cycle that is short or has a block that is not used is left out.
/// Absent: there is none.
[[nodiscard]] std::optional<BlockEffect> effect_of(std::span<const SweepMeasurement> blocks,
                                                   TQuantile quantile);

}  // namespace rubato::experiment
