// What a run tried before it settled, and what each setting cost against the found one.
#pragma once

#include <optional>
#include <vector>

#include "analyse/sources.h"
#include "analyse/stretch.h"
#include "analyse/summary.h"

namespace rubato::analyse {

/// Absent where nothing was tried.
[[nodiscard]] std::optional<Search> search_of(const record::RunRecord& run,
                                              const std::vector<EnergySource>& sources,
                                              const std::vector<Stretch>& stretches);

}  // namespace rubato::analyse
