// What a run that only measured says of its workload: the one thing a model must know.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/kind.h"
#include "predict/curve.h"
#include "record/reader.h"

namespace rubato::experiment {

struct MeasuredDefault {
  /// Time and energy of one iteration, or of the whole run where no iteration was found; the mean of the
  /// GPUs. `highest` has the power limit's highest only: clocks are the caller's to add.
  predict::Known known;
  Kind kind = Kind::measured;
  std::vector<GpuIdentity> gpus;  // all of one board
  PowerLimits limits;             // as found, of the first
  std::int64_t iterations = 0;    // that stand behind it; 0: the run as a whole
};

/// Counters are means over the windows at the found setting. unavailable: no energy, or no power limits,
/// could be read; not_supported: boards of several kinds; conflict: the run changed settings.
[[nodiscard]] Result<MeasuredDefault> measured_default(const record::RunRecord& run);

/// The same command at one setting, in the unit of `by_default`: of the stretches in which it was in force.
/// unavailable: it never was, or its energy could not be read; where runs are all there is to compare, also
/// that it was in force in a part of the run only.
[[nodiscard]] Result<predict::Observed> measured_at(const record::RunRecord& run,
                                                    const predict::KnobPoint& at,
                                                    const MeasuredDefault& by_default);

}  // namespace rubato::experiment
