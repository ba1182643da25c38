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
  /// Over the latest 64 spacings; absent for fewer than three.
  [[nodiscard]] std::optional<IterationEstimate> estimate() const;

 private:
  struct Spacing {
    TimePoint at;
    double seconds = 0;
  };
  std::deque<Spacing> spacings_;
  std::optional<Iteration> previous_;
};

}  // namespace rubato::progress
