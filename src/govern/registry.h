// Every strategy there is, by name.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "core/objective.h"
#include "core/setting.h"
#include "govern/strategy.h"
#include "plan/knob_space.h"

namespace rubato::predict {
class Model;
}

namespace rubato::govern {

/// What an earlier run of the same program on the same kind of GPU settled at: a first guess, to be verified
/// before it is trusted.
struct Remembered {
  Setting setting;
  double time_ratio = 1;  // per iteration, over the found setting's
  double energy_ratio = 1;
  std::map<std::string, double> features;  // at the found setting, as in Observation; empty: none were read
  std::string when;                        // "2026-11-21", for people
};

/// What a strategy may be told when it is made; each takes what it needs.
struct StrategyRequest {
  Setting wanted;                   // fixed
  bool found_clock_stated = false;  // fixed: the user gave --found-sm-clock
  std::string reason;               // measure-only: why nothing is changed
  Goal goal;  // its watts are those beside all GPUs together (core: beside_all), as are the tally's
  plan::KnobSpace space;  // of strategies that search; without axes there is nothing to search
  std::shared_ptr<const predict::Model> model;  // learned elsewhere for such GPUs; null: physics alone
  std::optional<TimePoint> deadline;            // of the allocation: nothing may push the job beyond
  std::optional<Remembered> remembered;
  std::uint64_t seed = 0;
  unsigned gpus = 1;  // steered together: tallies hold the energy of all of them
};

/// What is run beside a name in the lab: "NAME", "NAME+mix", "NAME@published".
enum class Variant {
  same_goal,  // its search, rubato's goal and bound
  mixing,     // the same, and then rubato's spending of the budget
  published,  // its own objective, margin and knob
};

struct StrategyEntry {
  std::string_view name;
  std::string_view description;
  Result<std::unique_ptr<Strategy>> (*make)(const StrategyRequest& request, Variant variant);
};

[[nodiscard]] std::span<const StrategyEntry> strategies();

/// `name` may carry a variant. Errors: not_found naming what there is, or that it has no such variant;
/// invalid_argument where the request lacks what the strategy needs.
[[nodiscard]] Result<std::unique_ptr<Strategy>> make_strategy(std::string_view name,
                                                              const StrategyRequest& request);

}  // namespace rubato::govern
