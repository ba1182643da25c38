// Where the seconds that are left of a budget save most: one setting, or two that share the time where the
// curve has a hole between them.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "core/objective.h"
#include "plan/curve_belief.h"

namespace rubato::plan {

/// In units of work; seconds over those of a unit at the found setting.
struct Account {
  double work = 0;   // done since the run began
  double lost = 0;   // seconds lost by it, at most as likely as `caution` says
  double ahead = 0;  // over which what is left is to be spent
  double bound = 0;  // fraction of the whole run's time
  [[nodiscard]] double allowed() const { return (bound * (work + ahead) - lost) / ahead; }
};

struct Spending {
  std::size_t setting = 0;
  struct Share {
    std::size_t faster = 0;
    std::size_t slower = 0;
    double part = 0;  // of the work ahead that is done at the slower
    double gain = 0;  // of the objective, over one setting alone
    double gain_error = 0;
  };
  std::optional<Share> share;  // of the best pair, whether or not its gain can be told from none
  double objective = 1;        // expected, over the found setting's
};

struct SpendingRules {
  double caution = 4;  // standard errors of a slowdown that count as spent
  double common = 0;   // standard error that all settings share: the found setting's own
  /// Of what is not known of one setting alone, the part that counts: holding it soon tells.
  double own_part = 1;
  double optimism =
      0;  // standard errors of the objective that speak for a setting: what is not known is tried
  const std::function<bool(std::size_t)>* may =
      nullptr;  // whether a setting may be chosen at all; null: all may
};

/// What one more unit at a setting loses, at most.
[[nodiscard]] double most_lost(const CurveBelief& belief, std::size_t i, const SpendingRules& rules);

/// Objective over the found setting's, the host's joules in it.
[[nodiscard]] double objective_ratio(const CurveBelief& belief, std::size_t i, const Goal& goal, Watts board);

/// `board`: watts at the found setting. Energy and cost alone are shared: EDP and ED2P have their best at
/// one.
[[nodiscard]] Spending spend(const CurveBelief& belief, const Goal& goal, Watts board, const Account& account,
                             const SpendingRules& rules);

}  // namespace rubato::plan
