// The world's time as NVML tells it: microseconds since 1970.
#pragma once

#include "base/clock.h"
#include "device/sim/world.h"

namespace rubato::simgpu {

[[nodiscard]] unsigned long long microseconds_since_1970();
/// When `at` was, on the wall. The same `at` gives the same answer all through a process, since clients ask
/// for what is newer than the stamp they saw last.
[[nodiscard]] unsigned long long wall_stamp_us(const device::sim::SimWorld& world, TimePoint at);

}  // namespace rubato::simgpu
