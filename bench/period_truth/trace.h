// One generated trace: the readings a detector gets, and the truth the judge keeps. The same seed gives the
// same trace anywhere. Shares no code with any detector.
#pragma once

#include <cstdint>
#include <vector>

#include "period_truth/truth.h"
#include "progress/telemetry.h"

namespace rubato::period_truth {

/// Detectors are developed on seeds outside of these and judged on these, and never the other way round.
inline constexpr std::uint64_t kFirstHeldOut = 100'000;
inline constexpr std::uint64_t kLastHeldOut = 999'999'999;

/// Of as many traces from the first on: whether any is for judging, and whether any is for developing.
[[nodiscard]] constexpr bool any_held_out(std::uint64_t first, std::uint64_t traces) {
  return first <= kLastHeldOut && first + traces > kFirstHeldOut;
}
[[nodiscard]] constexpr bool any_for_development(std::uint64_t first, std::uint64_t traces) {
  return first < kFirstHeldOut || first + traces > kLastHeldOut + 1;
}

struct Trace {
  std::uint64_t seed = 0;
  Family family = Family::plain;
  Sensor sensor;
  std::vector<progress::TelemetryPoint> points;
  progress::TelemetryFacts facts;  // published of the sensor; in half of the traces nothing is known
  Truth truth;
};

/// Families and sensors take turns with the seed: 95 in a row hold each pair once.
[[nodiscard]] Trace draw_trace(std::uint64_t seed);

}  // namespace rubato::period_truth
