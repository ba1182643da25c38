// What the "+mix" variants do after their search: rubato's own way to spend what is left of the slowdown
// budget, over the settings that were tried and no others.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "core/block_role.h"
#include "core/objective.h"
#include "govern/rubato/control_blocks.h"
#include "govern/rubato/program.h"
#include "govern/rubato/spending_rules.h"
#include "govern/rubato/stretch_meter.h"
#include "plan/knob_space.h"
#include "plan/spending.h"

namespace rubato::govern {

/// Settings are counted in the order they were named; 0 is the found one. Two that share the time take turns
/// of minutes; short control blocks at the found setting, one percent of the run at most, show
/// whether the baseline still holds.
class BudgetSpender {
 public:
  BudgetSpender(const Goal& goal, plan::KnobSpace space, Random random);

  /// Before the first turn.
  [[nodiscard]] std::size_t name(const predict::KnobPoint& at, bool found);
  [[nodiscard]] const predict::KnobPoint& at(std::size_t setting) const { return settings_[setting]; }
  /// What the run did at a setting, measured or not.
  void ran(std::size_t setting, Seconds time, double work);
  void measured(std::size_t setting, const StretchMean& mean);

  /// Of stretches that are measured: see StretchMeter.
  [[nodiscard]] double cell() const;

  struct Turn {
    std::size_t setting = 0;
    BlockRole role = BlockRole::hold;
    Seconds time;
    double work = 0;
  };
  /// `held`: what the search chose, for where no curve can be drawn through what it tried.
  [[nodiscard]] Turn next(std::size_t held, TimePoint now, TimePoint run_begin);

  /// The work has changed: what was lost stays lost, what was learned is forgotten.
  void restart();

 private:
  struct Measured {
    std::size_t setting = 0;
    StretchMean mean;
  };
  [[nodiscard]] bool learn();
  /// What the present program lost, at most.
  void charge(plan::Account& account) const;
  [[nodiscard]] plan::SpendingRules rules() const { return spending_rules(*program_, Errors::of_the_sum); }
  [[nodiscard]] std::optional<Turn> control(TimePoint now, TimePoint run_begin);

  Goal goal_;
  plan::KnobSpace space_;
  Random random_;
  std::vector<predict::KnobPoint> settings_;
  std::vector<Measured> measured_;  // before there was a program
  Seconds search_time_;             // likewise
  double search_work_ = 0;
  std::optional<Program> program_;
  Watts board_;  // draws at the found setting
  Seconds unit_;
  plan::Account before_;  // of programs that are over
  std::optional<ControlBlocks> controls_;
};

}  // namespace rubato::govern
