// Energy of one GPU between two moments, from its samples: for batches inside a block, and for records that
// were cut short. Where the record holds the energy of a window, that one is better: the sampler knew the
// sensor.
#pragma once

#include <optional>
#include <vector>

#include "core/sample.h"

namespace rubato::analyse {

/// The driver's counter where it is there throughout, else the power readings joined by straight lines.
/// Absent: no sample within `reach` of an end, or the counter went back.
[[nodiscard]] std::optional<Joules> energy_between(const std::vector<FastReading>& samples, TimePoint begin,
                                                   TimePoint end, Seconds reach);

}  // namespace rubato::analyse
