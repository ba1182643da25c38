// rubato's own way to find the iteration in telemetry: likeness of the trace to itself one period later,
// stretch by stretch, then the iterations followed one by one.
#pragma once

#include <memory>

#include "progress/telemetry.h"

namespace rubato::progress {

[[nodiscard]] std::unique_ptr<PeriodDetector> make_period_detector(const TelemetryFacts& facts = {});

}  // namespace rubato::progress
