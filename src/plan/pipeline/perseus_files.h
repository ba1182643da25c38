// What Perseus reads and draws: frequencies for every instruction as Zeus' pipeline frequency optimizer loads
// them, and the frontier as its artifact publishes it.
#pragma once

#include <string>

#include "plan/pipeline/frontier.h"

namespace rubato::plan {

/// A Python literal: one list per stage of ('forward' or 'backward', MHz) in the order they run.
[[nodiscard]] std::string perseus_clocks(const PipelineSchedule& schedule, const ChosenPoint& chosen);

/// CSV: time,energy of an iteration as Perseus' files, and behind them realised_time,realised_energy.
[[nodiscard]] std::string perseus_frontier(const Frontier& frontier);

}  // namespace rubato::plan
