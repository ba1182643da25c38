// What was asked of a run, read from its options before any GPU is.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "cli/agents.h"
#include "cli/governing.h"
#include "cli/run.h"
#include "cli/run_plan.h"
#include "cli/wanted.h"

namespace rubato::cli {

/// What was asked for: a setting, or to choose one; nothing of both: to measure.
struct Asked {
  std::optional<double> bound;  // --max-slowdown
  Wanted wanted;
  std::optional<Governing> governing;
  std::optional<agent::JobPlace> place;  // of several agents that agree
  std::optional<AskedPlan> plan;         // its single setting is in `wanted`
  bool rank_clocks = false;              // of their own, for ranks that wait for slower ones
  std::string counters;                  // a provider, or "auto"; empty: nobody counts
  [[nodiscard]] bool power_budget() const { return governing && governing->goal.power_budget; }
  [[nodiscard]] bool anything() const { return governing || !wanted.setting.empty(); }
};

/// `experiment`: the setting is its strategy's affair, and so is whether there is one.
[[nodiscard]] Result<Asked> parse_asked(const RunOptions& options, bool experiment,
                                        const std::map<std::string, std::string>& environment);

}  // namespace rubato::cli
