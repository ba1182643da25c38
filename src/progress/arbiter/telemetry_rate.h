// Rates of progress for jobs in which no iteration was found. Each says what it can and cannot tell; none of
// them is an iteration, and only instructions may be compared between two settings.
#pragma once

#include <optional>
#include <span>

#include "core/feature_schema.h"
#include "core/iteration_estimate.h"
#include "progress/telemetry.h"

namespace rubato::progress {

/// Seconds of work per second, from what any board tells: NVML's utilisation (the share of time in which some
/// kernel ran), or where that is missing the energy above idle over what the same time at full work would
/// have drawn, both levels from the points themselves. Where both are there, one checks the other.
///
/// It can tell: that the job waits for data, stops, or starts again, under one setting.
/// It cannot tell: that kernels take longer. A slower clock leaves it where it is, or raises it, so it is no
/// progress under another setting; nor does it know one kernel from another. Its confidence is never high.
///
/// Absent: less than 5 s or ten usable points, or power alone that does not span idle and full work.
[[nodiscard]] std::optional<ProgressRate> telemetry_rate(std::span<const TelemetryPoint> points);

/// Instructions a second. They follow the work through changes of clock and power limit as long as the
/// program runs the same kernels: another batch size, precision or kernel library is another amount of work
/// for each. Spinning kernels (a collective that waits for another GPU) execute instructions without
/// progress.
///
/// Absent: instructions were not counted. Without half width: one window has no spread.
[[nodiscard]] std::optional<ProgressRate> counter_rate(const FeatureVector& window);

}  // namespace rubato::progress
