// Many timed changes as one table.
#pragma once

#include <span>
#include <vector>

#include "experiment/latency/change.h"
#include "experiment/latency/latency_file.h"

namespace rubato::experiment {

/// Zero where there is none.
[[nodiscard]] Seconds median_gap(std::span<const double> gaps);

/// `delays` of one pair; percentiles between two of them lie on a straight line. Absent: none.
[[nodiscard]] std::optional<DelaySummary> summary_of_delays(std::vector<Seconds> delays);

/// Fills in pairs and overall; unavailable, with the latest reason, where no change was timed.
[[nodiscard]] Result<LatencyTable> summarise(std::span<const ClockPair> pairs,
                                             std::span<const TimedChange> changes, LatencyTable table);

}  // namespace rubato::experiment
