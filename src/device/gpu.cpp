#include "device/gpu.h"

#include "base/text.h"

namespace rubato::device {

Result<ClockReading> Gpu::read_clocks() {
  return read_slow().map([](const SlowReading& reading) {
    return ClockReading{reading.at, reading.sm_clock, reading.memory_clock};
  });
}

Result<FeatureVector> Gpu::read_counters() {
  return fail(ErrorCode::not_supported,
              cat(identity().id.uuid, " (", identity().name, ") has no counters to read"));
}

Result<ApplicationClockReading> Gpu::application_clocks() {
  return fail(ErrorCode::not_supported,
              cat(identity().id.uuid, " (", identity().name, ") has no application clocks"));
}

}  // namespace rubato::device
