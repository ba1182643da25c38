// What a study of latencies does to its GPU, whoever stands behind it: a lease and a driver, or a simulated
// world in a test.
#pragma once

#include "base/result.h"
#include "core/sample.h"
#include "core/setting.h"

namespace rubato::experiment {

class LatencyBench {
 public:
  virtual ~LatencyBench() = default;
  /// Locks through a lease; when the driver was asked, on the clock of the readings. invalid_argument and
  /// not_supported: the GPU does not take this one.
  [[nodiscard]] virtual Result<TimePoint> ask(const Setting& setting) = 0;
  [[nodiscard]] virtual Result<ClockReading> clocks() = 0;
  [[nodiscard]] virtual Result<FastReading> power() = 0;
  [[nodiscard]] virtual Result<SlowReading> state() = 0;
};

}  // namespace rubato::experiment
