// A plan of clocks inside the iteration, judged while it runs: baseline at the found setting, then its best
// single setting and the plan in turns, then whichever pays. Control blocks go on as at any fixed setting.
#pragma once

#include <optional>
#include <string>

#include "base/random.h"
#include "govern/fixed_strategy.h"
#include "govern/layer_plan/payoff.h"
#include "govern/strategy.h"
#include "plan/layers/layer_plan.h"

namespace rubato::govern {

struct PlanOptions {
  plan::LayerPlan plan;
  PayoffRules rules;
  bool found_clock_stated = false;
  std::string never;  // why the plan is not run at all, only its single setting; empty: it is
};

/// The single setting as it is locked: the memory clock only where the plan sets memory clocks.
[[nodiscard]] Setting setting_of(const predict::Clocks& clocks, bool memory_clock);
/// From the lowest to the highest clock of the plan's phases: what a record shows while it runs.
[[nodiscard]] Setting range_of(const plan::LayerPlan& plan);

class PlanStrategy final : public Strategy {
 public:
  PlanStrategy(PlanOptions options, Random random);

  [[nodiscard]] std::string_view name() const override { return "plan"; }
  [[nodiscard]] Decision next(const Observation& o) override;

 private:
  enum class Stage { comparing, settled };

  /// A block of one arm: from what was launched before it has drained, to the latest known iteration.
  struct Block {
    Keep arm = Keep::single;
    TimePoint from;
    std::optional<Tally> first;
    std::optional<Tally> last;
  };

  [[nodiscard]] Decision compare(const Observation& o);
  [[nodiscard]] Decision settled(const Observation& o);
  [[nodiscard]] Decision at(Keep where, BlockRole role, const Observation& o, const std::string& why) const;
  [[nodiscard]] bool in_force(Keep where, const Observation& o) const;
  [[nodiscard]] Decision decide(const Observation& o);
  void watch_found(const Observation& o, const Decision& inner);
  /// Its cost wherever it is held, for the bound.
  void watch_single(const Observation& o, const Decision& decision);
  [[nodiscard]] static Block block_of(Keep arm, const Observation& o);
  /// True where it holds enough.
  [[nodiscard]] static bool follow(Block& block, const Observation& o);
  [[nodiscard]] Keep next_arm();
  void take_block();
  void drop_pair();

  PlanOptions options_;
  Setting single_;
  Setting range_;
  FixedStrategy fixed_;
  Random random_;
  Payoff payoff_;
  Stage stage_ = Stage::comparing;
  std::optional<Keep> kept_;
  std::string why_;
  std::optional<Block> block_;
  std::optional<Block> found_block_;
  std::optional<Block> held_block_;
  std::optional<Cost> single_cost_;  // of the pair under way
  std::optional<Cost> plan_cost_;
  std::optional<TimePoint> ready_since_;
  bool baseline_over_ = false;
};

}  // namespace rubato::govern
