// What detectors of the iteration get and give that look at telemetry alone. Streaming: one point at a time,
// at constant cost; nothing waits for the end of the trace.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/units.h"
#include "core/iteration.h"
#include "core/iteration_estimate.h"

namespace rubato::progress {

/// One moment of one GPU. A column that was not read at this moment is absent; columns may come at different
/// paces.
struct TelemetryPoint {
  TimePoint at;
  std::optional<Watts> power;
  std::optional<double> sm_utilisation;      // fraction, 0..1
  std::optional<double> memory_utilisation;  // fraction, 0..1
  std::optional<Megahertz> sm_clock;
};

/// What is known of the power sensor; absent: to be found in the data.
struct TelemetryFacts {
  std::optional<Seconds> update_period;
  std::optional<Seconds> averaging_window;
};

/// What a whole trace came to.
struct PeriodSummary {
  /// The last word; its period is the median iteration over the whole trace, stalls and pauses left out.
  /// Absent: the trace was too short, or too poor, for any.
  std::optional<IterationEstimate> verdict;
  std::optional<Seconds> first;          // the period first decided on
  std::optional<Seconds> last;           // the latest
  std::optional<Seconds> decided_after;  // from the first point to the first decision, periodic or not
  std::size_t points = 0;                // used
  std::size_t dropped = 0;               // NaN, backward or repeated in time, out of any range
  std::vector<std::string> notes;        // what a reader has to know: gaps, stalls, changes of clock
};

class PeriodDetector {
 public:
  virtual ~PeriodDetector() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Points that are not later than the one before, or not finite, are dropped and counted.
  virtual void add(const TelemetryPoint& point) = 0;
  /// The latest statement; absent while undecided.
  [[nodiscard]] virtual std::optional<IterationEstimate> estimate() const = 0;
  /// Iterations followed since the last call, oldest first; where in its cycle one begins is arbitrary.
  /// Stalls and pauses lie between them. Empty for detectors that only state a period.
  [[nodiscard]] virtual std::vector<Iteration> take_iterations() { return {}; }
  [[nodiscard]] virtual PeriodSummary summary() const = 0;
};

}  // namespace rubato::progress
