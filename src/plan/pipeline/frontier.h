// The time-energy frontier of one training iteration over a pipeline, and a clock for every forward and
// backward at a point of it (Chung et al., "Perseus", SOSP 2024).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "plan/pipeline/duration_curve.h"
#include "plan/pipeline/one_f_one_b.h"
#include "plan/pipeline/stage_profile.h"

namespace rubato::plan {

struct FrontierWishes {
  std::size_t microbatches = 0;
  Watts blocking;                // of a stage that waits
  std::optional<Seconds> unit;   // floor times to whole units, and a row for each; else exact times
  std::size_t most_rows = 1001;  // of exact times, evenly spaced
};

/// Energy of all stages, waiting included.
struct IterationCost {
  Seconds time;
  Joules energy;
};

struct FrontierPoint {
  IterationCost continuous;  // as if the clock could be set between two measured ones; the frontier proper
  IterationCost realised;    // with measured clocks only, at the profile's own times
};

/// Of every instruction, in the order of PipelineSchedule::instructions.
using InstructionClocks = std::vector<Megahertz>;

struct ChosenPoint {
  FrontierPoint point;
  InstructionClocks clocks;
};

struct Frontier {
  std::vector<FrontierPoint> points;  // from the fastest iteration to the one of least energy
  std::uint64_t breakpoints = 0;
};

class Pipeline {
 public:
  /// invalid_argument: one stage, no micro-batch, and what duration_curve() refuses.
  [[nodiscard]] static Result<Pipeline> make(StageProfile profile, const FrontierWishes& wishes);

  /// Convex and falling; beyond its last point a longer iteration costs more energy, not less.
  /// invalid_argument where the unit is too fine for a row for each.
  [[nodiscard]] Result<Frontier> frontier() const;
  /// The best point that is not slower than `deadline`; the fastest iteration where none is. The iteration
  /// ends early where more time would cost energy.
  [[nodiscard]] ChosenPoint at(Seconds deadline) const;
  [[nodiscard]] Seconds fastest() const;

  /// What an iteration costs with clocks of the profile, at its own times, floored or not. Where it ends
  /// before `until`, all stages wait until then.
  [[nodiscard]] IterationCost cost(const InstructionClocks& clocks, Seconds until = {}) const;
  /// How long it takes as this counts time.
  [[nodiscard]] Seconds counted_time(const InstructionClocks& clocks) const;
  [[nodiscard]] InstructionClocks all_at_highest() const;

  [[nodiscard]] const PipelineSchedule& schedule() const { return schedule_; }
  [[nodiscard]] unsigned dropped() const;  // clocks of a stage and pass that never pay
  [[nodiscard]] Watts blocking() const { return wishes_.blocking; }

 private:
  Pipeline(StageProfile profile, const FrontierWishes& wishes);
  [[nodiscard]] Project project() const;
  [[nodiscard]] const DurationCurve& curve_of(const Instruction& instruction) const;
  [[nodiscard]] const StageOption& own(std::size_t instruction, const InstructionClocks& clocks) const;
  [[nodiscard]] CostPerTick waiting_price() const;
  [[nodiscard]] IterationCost continuous(const TimeCost& solved) const;
  [[nodiscard]] InstructionClocks realise(const TimeCost& solved) const;
  [[nodiscard]] FrontierPoint point(const TimeCost& solved) const;

  StageProfile profile_;
  FrontierWishes wishes_;
  TickRule rule_;
  PipelineSchedule schedule_;
  std::vector<DurationCurve> curves_;  // 2 * stage + pass
};

}  // namespace rubato::plan
