// The iteration as marks tell it: begin to begin, pauses left out.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>

#include "base/clock.h"
#include "core/iteration_estimate.h"
#include "progress/iteration_tracker.h"

namespace rubato::progress {

class MarkEstimate {
 public:
  void add(const TrackedIteration& tracked);
  /// What comes is another length: it is told once there are three of it, and that change is no drift.
  void setting_changed(TimePoint at) { changed_ = at; }
  /// Over the latest 64 spacings at one setting; absent for fewer than three.
  [[nodiscard]] std::optional<IterationEstimate> estimate() const;

 private:
  struct Spacing {
    TimePoint at;
    double seconds = 0;
  };
  std::deque<Spacing> spacings_;
  std::optional<Iteration> previous_;
  std::optional<TimePoint> changed_;
};

}  // namespace rubato::progress
