// What a study of latencies does to its GPU, whoever stands behind it: a lease and a driver, or a simulated
// world in a test.
#pragma once

#include "base/result.h"
#include "core/sample.h"
#include "core/setting.h"

namespace rubato::experiment {

/// On the clock of the readings.
struct AskedFor {
  TimePoint at;        // just before the driver was called
  TimePoint answered;  // the caller has the driver's answer
};

class LatencyBench {
 public:
  virtual ~LatencyBench() = default;
  /// Locks through a lease. invalid_argument and not_supported: the GPU does not take this one.
  [[nodiscard]] virtual Result<AskedFor> ask(const Setting& setting) = 0;
  [[nodiscard]] virtual Result<ClockReading> clocks() = 0;
  [[nodiscard]] virtual Result<FastReading> power() = 0;
  [[nodiscard]] virtual Result<SlowReading> state() = 0;
};

}  // namespace rubato::experiment
