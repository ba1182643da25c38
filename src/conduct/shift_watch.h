// One GPU's run cut into stretches of whole iterations, and each told to the shift detector
// (progress/shift.h).
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "core/sample.h"
#include "core/shift.h"
#include "progress/iteration_tracker.h"
#include "progress/shift.h"

namespace rubato::conduct {

class ShiftWatch {
 public:
  explicit ShiftWatch(progress::ShiftOptions options = {}) : detector_(options) {}

  void fast(const FastReading& reading);
  void slow(const SlowReading& reading) { utilisation_ = reading.sm_utilisation; }
  void features(const FeatureVector& features) { features_ = features; }
  /// In order; they may be told some seconds after they ended.
  void iteration(const progress::TrackedIteration& tracked);
  /// What changes at `at` has its explanation: another setting, tuning, no load.
  void rebase(TimePoint at);
  [[nodiscard]] std::optional<Shift> step(TimePoint now);

 private:
  struct Stretch {
    TimePoint begin;
    TimePoint end;
    std::int64_t iterations = 0;
  };

  void close(const Stretch& stretch);

  progress::ShiftDetector detector_;
  std::deque<std::pair<TimePoint, Watts>> power_;
  std::optional<double> utilisation_;
  std::optional<FeatureVector> features_;
  std::optional<Stretch> open_;
  std::optional<TimePoint> last_iteration_;
  std::optional<Shift> noticed_;
};

}  // namespace rubato::conduct
