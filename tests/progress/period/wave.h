// Small traces made by hand for the period detector's tests.
#pragma once

#include <cmath>
#include <functional>
#include <vector>

#include "base/random.h"
#include "progress/period/samples.h"

namespace rubato::progress {

/// Power read every `step_s` for `seconds`, as `watts` says, with some noise.
inline std::vector<TelemetryPoint> readings(double seconds, double step_s, double noise_w,
                                            const std::function<double(double)>& watts,
                                            std::uint64_t seed = 1) {
  Random random(seed);
  std::vector<TelemetryPoint> out;
  for (double t = 0; t < seconds; t += step_s * random.uniform(0.95, 1.05)) {
    TelemetryPoint point;
    point.at = TimePoint{} + Seconds(t);
    point.power = Watts(watts(t) + noise_w * random.normal());
    out.push_back(point);
  }
  return out;
}

inline Samples samples_of(const std::vector<TelemetryPoint>& points) {
  Samples out;
  for (const auto& point : points) out.add(point);
  return out;
}

/// Three levels: 40 % at 200 W, 35 % at 260 W, the rest at 120 W.
inline double three_levels(double t, double period_s) {
  const double phase = t / period_s - std::floor(t / period_s);
  if (phase < 0.4) return 200;
  return phase < 0.75 ? 260 : 120;
}

}  // namespace rubato::progress
