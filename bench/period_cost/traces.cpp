#include "traces.h"

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace rubato::bench {
namespace {

constexpr double kIteration = 1.3;    // s
constexpr double kBusy = 0.8;         // of the iteration
constexpr double kMicroBatches = 4;   // in one iteration
constexpr double kMeanStretch = 0.9;  // s, of an aperiodic load

/// Share of full work at `time`.
double load_at(Shape shape, double time) {
  const double phase = std::fmod(time, kIteration) / kIteration;
  if (phase > kBusy) return 0.1;
  if (shape == Shape::plain) return 0.9;
  return std::fmod(phase / kBusy * kMicroBatches, 1.0) < 0.7 ? 0.95 : 0.5;
}

}  // namespace

std::vector<progress::TelemetryPoint> make_trace(Shape shape, Seconds length, double samples_a_second,
                                                 std::uint64_t seed) {
  Random random(seed);
  std::vector<progress::TelemetryPoint> points;
  double level = 0.5;
  double changes_at = 0;
  // The last sample may or may not be made. NOLINTNEXTLINE(clang-analyzer-security.FloatLoopCounter)
  for (double time = 0; time < length.value(); time += random.uniform(0.8, 1.2) / samples_a_second) {
    if (shape == Shape::aperiodic && time >= changes_at) {
      level = random.uniform(0.1, 1.0);
      changes_at = time - kMeanStretch * std::log(1 - random.uniform());
    }
    const double load = shape == Shape::aperiodic ? level : load_at(shape, time);
    points.push_back({.at = TimePoint{} + Seconds(time),
                      .power = Watts(60 + 180 * load + 3 * random.normal()),
                      .sm_utilisation = std::clamp(load + 0.02 * random.normal(), 0.0, 1.0),
                      .memory_utilisation = std::clamp(load / 2 + 0.02 * random.normal(), 0.0, 1.0),
                      .sm_clock = 1410_MHz});
  }
  return points;
}

}  // namespace rubato::bench
