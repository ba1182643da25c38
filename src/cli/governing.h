// What a person wants of a run whose setting rubato chooses: goal, knobs, strategy, and when it has to be
// over.
#pragma once

#include <ctime>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/second_price.h"
#include "core/objective.h"
#include "core/setting.h"

namespace rubato::cli {

/// Exactly as typed; empty or absent: not given.
struct GoverningText {
  std::string strategy;
  std::string objective;
  std::string max_slowdown;
  std::vector<std::string> knobs;
  std::string power_budget;  // "1200W"
  SecondPriceText second;
  std::string deadline;
  bool no_memory = false;
};

struct Governing {
  std::string strategy;
  Goal goal;
  std::optional<double> eta;         // to become Goal::second once the board is known
  std::vector<Knob> knobs;           // empty: what suits the GPUs
  std::optional<Seconds> time_left;  // on the wall, until the deadline
  bool memory = true;
};

/// The strategy that is meant where none is named and no setting is given.
inline constexpr std::string_view kOwnStrategy = "rubato";

/// Absent where nothing is to be chosen: a setting is given, `fixed` or `measure-only` is named, or this
/// build has no strategy of its own. `now`: the wall's clock, for deadlines; in `environment` Slurm may tell
/// one. Errors: invalid_argument and not_found for what was typed.
[[nodiscard]] Result<std::optional<Governing>> parse_governing(
    const GoverningText& text, bool setting_given, std::time_t now,
    const std::map<std::string, std::string>& environment);

/// "90m", "2h30m", "5400" or "5400s" from now; "18:30" today or, where that is over, tomorrow;
/// "2026-11-22T18:30". Errors: invalid_argument.
[[nodiscard]] Result<Seconds> parse_deadline(const std::string& text, std::time_t now);

/// As typed: "energy", "edp", "ed2p" or "cost". The least time is what a budget of watts looks for, and
/// nothing to be asked for by name. Errors: invalid_argument.
[[nodiscard]] Result<Objective> parse_objective_of_run(std::string_view text);

/// "the least energy, at most 5 % slower".
[[nodiscard]] std::string describe(const Goal& goal);

}  // namespace rubato::cli
