// Which strategy a run gets: what the GPUs and the rights of this process say to what was asked for, and what
// is done where they say no.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "cli/gpus.h"
#include "cli/guarding.h"
#include "cli/power_budget.h"
#include "cli/run.h"
#include "cli/run_asked.h"
#include "cli/wanted.h"
#include "conduct/run_space.h"
#include "govern/strategy.h"
#include "record/types.h"

namespace rubato::cli {

/// Why nothing will be set; `what` is empty where something may be.
struct MeasureOnly {
  Error why;
  bool asked_for = false;  // by the user, so no warning
};

/// What the GPUs say to it.
struct Judged {
  Status fits;
  Wanted wanted;  // fitted
  std::optional<conduct::RunSpace> space;
  std::optional<BudgetRange> budget;  // of --power-budget, in the place of a space
  MeasureOnly only;
  std::string afterwards;
};

/// Asks the driver. `sets`: somebody wants something set, dry or not.
[[nodiscard]] Judged judge(const RunOptions& options, const Asked& asked, const OpenGpus& open,
                           const GuardedRun& guarded, bool sets);

void tell(const MeasureOnly& only);

struct ChosenStrategy {
  std::unique_ptr<govern::Strategy> strategy;
  std::string intent;                   // a sentence for the record; empty: the setting says it
  std::optional<plan::LayerPlan> plan;  // to be switched inside the iteration
};

/// Errors: what was typed cannot be done; the job is not started.
[[nodiscard]] Result<ChosenStrategy> strategy_for(const RunOptions& options, const Asked& asked,
                                                  const Judged& judged, const OpenGpus& open,
                                                  const record::RunInfo& run);

}  // namespace rubato::cli
