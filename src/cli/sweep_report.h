// A sweep for a person and for programs (docs/formats.md#rubatosweep1).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/sweep_conductor.h"
#include "experiment/sweep_choice.h"
#include "report/render.h"
#include "report/value.h"

namespace rubato::cli {

struct SweepReport {
  const SweepPlan& plan;
  const SweepOptions& options;
  const SweepFacts& facts;
  const SweepEnd& end;
  const std::vector<experiment::SweepMeasurement>& measured;
  const experiment::SweepSummary* summary = nullptr;  // null: no control run can be used
  const experiment::SweepChoices* choices = nullptr;  // null: there is no result, and why_not says why
  std::string why_not;
};

[[nodiscard]] std::string sweep_text(const SweepReport& report, const report::TextOptions& options);
[[nodiscard]] report::Value sweep_json(const SweepReport& report);

/// Before anything runs: what would be measured, in which order, and for how long where a run's length is
/// known.
[[nodiscard]] std::string sweep_plan_text(const SweepPlan& plan, const SweepOptions& options,
                                          const SweepFacts& facts,
                                          const std::vector<experiment::SweepMeasurement>& measured,
                                          const report::TextOptions& words);
[[nodiscard]] report::Value sweep_plan_json(const SweepPlan& plan, const SweepFacts& facts,
                                            const std::vector<experiment::SweepMeasurement>& measured);

}  // namespace rubato::cli
