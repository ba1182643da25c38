// The world's units as NVML counts them: whole milliwatts, millijoules, megahertz, percent.
#pragma once

#include <algorithm>
#include <cmath>

#include "base/units.h"

namespace rubato::simgpu {

[[nodiscard]] inline unsigned milliwatts(Watts w) {
  return static_cast<unsigned>(std::llround(std::max(0.0, w.value()) * 1000));
}
/// Never rounded up: a counter must not tell energy that was not yet used.
[[nodiscard]] inline unsigned long long millijoules(Joules j) {
  return static_cast<unsigned long long>(std::max(0.0, j.value()) * 1000);
}
[[nodiscard]] inline unsigned megahertz(Megahertz f) {
  return static_cast<unsigned>(std::llround(f.value()));
}
[[nodiscard]] inline unsigned percent(double fraction) {
  return static_cast<unsigned>(std::llround(std::clamp(fraction, 0.0, 1.0) * 100));
}
[[nodiscard]] inline unsigned long long nanoseconds(Seconds s) {
  return static_cast<unsigned long long>(std::max(0.0, s.value()) * 1e9);
}

}  // namespace rubato::simgpu
