// Traces for measuring cost: what a training looks like to NVML, made here and nowhere else.
#pragma once

#include <cstdint>
#include <vector>

#include "progress/telemetry.h"

namespace rubato::bench {

enum class Shape { plain, nested, aperiodic };

/// `samples_a_second` with jitter in time; iterations of 1.3 s where there are any.
[[nodiscard]] std::vector<progress::TelemetryPoint> make_trace(Shape shape, Seconds length,
                                                               double samples_a_second, std::uint64_t seed);

}  // namespace rubato::bench
