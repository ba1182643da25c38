#include "simgpu/nvml/wall_time.h"

#include <chrono>

namespace rubato::simgpu {
namespace {

using std::chrono::duration_cast;
using std::chrono::nanoseconds;

std::int64_t wall_ns() {
  return duration_cast<nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

unsigned long long microseconds_since_1970() {
  return static_cast<unsigned long long>(wall_ns() / 1000);
}

unsigned long long wall_stamp_us(const device::sim::SimWorld& world, TimePoint at) {
  // Fixed at the first question of the process: asked anew each time, the two clocks would drift apart by a
  // microsecond here and there.
  struct Anchor {
    TimePoint world;
    std::int64_t wall_ns = 0;
  };
  static const Anchor kAnchor{world.clock()->now(), wall_ns()};
  const Seconds since = world.clock()->wall(at - kAnchor.world);
  return static_cast<unsigned long long>((kAnchor.wall_ns + static_cast<std::int64_t>(since.value() * 1e9)) /
                                         1000);
}

}  // namespace rubato::simgpu
