// Zeus's GlobalPowerLimitOptimizer (ml-energy/zeus 0.16, NSDI'23) as a search: every power limit from the
// highest down in steps of 25 W, each for some warm-up and some profiled training steps, then a selector.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "govern/reference/score.h"
#include "govern/reference/search.h"
#include "govern/reference/zeus_selector.h"
#include "govern/registry.h"

namespace rubato::govern {

struct ZeusOptions {
  ZeusSelector selector;  // highest_power is filled in by the search
  /// GPUs whose energies are added up. As published it is those of one process, which is one too few by all
  /// others where each GPU has a process of its own: energy then weighs too much in the cost.
  unsigned world_size = 1;
  double wait_steps = 1;
  double warmup_steps = 10;
  double profile_steps = 40;
  Watts step{25};
  /// As published it starts at the highest limit of the board, whatever was found: an administrator's lower
  /// limit is lifted. Without, it starts at what was found and never goes above.
  bool from_highest = false;
  /// What ZeusRule::energy makes small instead, where the goal says another: its bound is the selector's.
  Aim aim;
};

/// Its steps are iterations here. It knows epochs, and begins a limit again that an epoch's end interrupts;
/// here a run is one epoch.
class ZeusSearch final : public Search {
 public:
  /// `space` has the axis to sweep at `axis`; what else may be set stays as found.
  ZeusSearch(ZeusOptions options, plan::KnobSpace space, std::size_t axis);

  [[nodiscard]] std::string_view name() const override { return name_of(options_.selector.rule); }
  [[nodiscard]] TrialLength baseline() const override;
  [[nodiscard]] SearchStep next(std::span<const TrialResult> seen) override;

  /// Descending, in W or MHz.
  [[nodiscard]] const std::vector<double>& sweep() const { return sweep_; }

 private:
  [[nodiscard]] predict::KnobPoint at(double value) const;
  [[nodiscard]] SearchStep choose(std::span<const TrialResult> seen) const;

  ZeusOptions options_;
  plan::KnobSpace space_;
  std::size_t axis_;
  std::vector<double> sweep_;
  bool baseline_counts_ = false;  // it is the sweep's first
  std::size_t asked_ = 0;         // of sweep_
};

/// Same goal: the rule with the bound of the goal, over the power limit or, where it may not be set, over the
/// first knob that may. Published: the rule alone, over power limits, by its own default where the rule is
/// `max_slowdown` (its factor has no default): ZeusCost with eta 0.5.
[[nodiscard]] Result<std::unique_ptr<Search>> make_zeus(ZeusRule rule, const StrategyRequest& request,
                                                        bool published);

}  // namespace rubato::govern
