// NVML counts in milliwatts, millijoules, nanoseconds and whole megahertz; nothing outside this folder should
// see those.
#pragma once

#include <cmath>

#include "base/units.h"

namespace rubato::device::nvml {

[[nodiscard]] constexpr Watts from_milliwatts(double mw) {
  return Watts(mw / 1000);
}
[[nodiscard]] constexpr Joules from_millijoules(double mj) {
  return Joules(mj / 1000);
}
[[nodiscard]] constexpr Seconds from_nanoseconds(double ns) {
  return Seconds(ns * 1e-9);
}
[[nodiscard]] inline unsigned to_milliwatts(Watts w) {
  return static_cast<unsigned>(std::llround(w.value() * 1000));
}
[[nodiscard]] inline unsigned to_whole_megahertz(Megahertz f) {
  return static_cast<unsigned>(std::llround(f.value()));
}

}  // namespace rubato::device::nvml
