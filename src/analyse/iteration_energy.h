// Statistics of single iterations: times as they are, energy over groups long enough to be measured.
#pragma once

#include <optional>
#include <vector>

#include "analyse/partition.h"
#include "analyse/parts.h"

namespace rubato::analyse {

/// Absent where there were no iterations.
[[nodiscard]] std::optional<IterationSummary> iteration_summary(const std::vector<Iteration>& iterations,
                                                                const std::vector<Piece>& pieces,
                                                                const std::vector<EnergySource>& sources);

}  // namespace rubato::analyse
