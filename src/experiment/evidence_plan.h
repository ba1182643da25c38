// What `rubato evidence` measures in the time it is given: how much of everything fits is settled before
// anything starts.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "experiment/calibrate/settings.h"
#include "experiment/sweep_schedule.h"
#include "predict/curve.h"

namespace rubato::experiment {

/// One run of one kernel, which changes settings between its units of work.
struct EvidenceRun {
  std::string_view kernel;                // as `rubato calibrate --list` names it
  std::vector<SweepStep> sweep;           // of EvidencePlan::points
  std::vector<predict::KnobPoint> steps;  // the sweep's, then those of the control blocks
  Seconds length;                         // expected, warm-up included
};

/// Each target there and back `cycles` times, while clock and power are watched.
struct EvidenceSwitches {
  std::string_view kernel;
  std::vector<predict::KnobPoint> targets;
  unsigned cycles = 0;
  Seconds hold;
  Seconds length;  // expected
};

struct EvidencePlan {
  std::vector<predict::KnobPoint> points;  // of the coarse sweep, without the found setting
  unsigned repeats = 0;
  std::int64_t iterations = 0;    // units of work at each step, at least
  std::vector<EvidenceRun> runs;  // the first one ends with the control blocks
  predict::KnobPoint other;       // of the control blocks: found, other, other, found
  unsigned blocks = 0;            // how often these four
  EvidenceSwitches switches;

  [[nodiscard]] Seconds length() const;
};

/// The richest plan that fits into `budget`. invalid_argument names the time that the smallest one needs;
/// not_supported: no knob can be set.
[[nodiscard]] Result<EvidencePlan> plan_evidence(const KnobRanges& ranges, Seconds sensor_period,
                                                 Seconds budget, std::uint64_t seed);

/// Leaves SM clocks out of a plan that moves power limits as well; `seed` as it was planned with.
void drop_clocks(EvidencePlan& plan, std::uint64_t seed);

}  // namespace rubato::experiment
