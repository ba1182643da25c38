// What one instruction of a pipeline can choose from: its clocks without those that never pay, and the convex
// lower edge of time against energy between them, in whole ticks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "plan/pipeline/stage_profile.h"
#include "plan/pipeline/time_cost.h"

namespace rubato::plan {

/// How times are counted.
struct TickRule {
  Seconds tick{1e-9};
  bool floored = false;  // whole ticks, rounded down; else rounded up, which loses less than a tick

  [[nodiscard]] Ticks of(Seconds time) const;
  [[nodiscard]] Seconds seconds(Ticks ticks) const { return static_cast<double>(ticks) * tick; }
};

struct ClockOption {
  StageOption measured;
  Ticks ticks = 0;
  Joules effective;  // above what a waiting stage would have drawn in that time
};

struct DurationCurve {
  std::vector<ClockOption> options;  // fastest first; each costs less effective energy than the one before
  std::vector<ClockOption> corners;  // of the convex edge, slowest first
  unsigned dropped = 0;              // clocks that are slower than another and save nothing

  /// On the edge; `ticks` within it.
  [[nodiscard]] Joules effective(Ticks ticks) const;
};

/// A stage that is done early waits for its neighbours at `blocking`: so much of an instruction's energy is
/// no cost of its own (Chung et al., "Perseus", SOSP 2024, section 4). Options of one tick are one: the
/// fastest, whose time the tick is nearest to.
/// invalid_argument where an option draws less than `blocking`, or takes less than a tick; `who` names it.
[[nodiscard]] Result<DurationCurve> duration_curve(const std::vector<StageOption>& options, Watts blocking,
                                                   const TickRule& rule, const std::string& who);

/// Prices are whole microwatts.
[[nodiscard]] std::vector<Pace> paces_of(const DurationCurve& curve, const TickRule& rule);
inline constexpr double kPricesPerWatt = 1e6;

}  // namespace rubato::plan
