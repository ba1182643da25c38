// The chosen setting against the found one, from the blocks of a run.
#pragma once

#include "analyse/sources.h"
#include "analyse/stretch.h"
#include "analyse/summary.h"

namespace rubato::analyse {

/// The error's `what` is a sentence that says why there is nothing to compare.
[[nodiscard]] Result<Savings> savings_of(const record::RunRecord& run,
                                         const std::vector<EnergySource>& sources,
                                         const std::vector<Stretch>& stretches,
                                         const std::optional<EnergyWindow>& total,
                                         const std::optional<Seconds>& duration);

}  // namespace rubato::analyse
