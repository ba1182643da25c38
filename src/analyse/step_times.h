// How long the job's steps took as of one moment: what conduct told the run's energy meters at that time.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/beat.h"
#include "core/iteration.h"

namespace rubato::analyse {

class StepTimes {
 public:
  /// Iterations that were longer than a few of the usual ones are pauses, and left out.
  explicit StepTimes(const std::vector<Iteration>& iterations);

  /// Mean and spread of the latest 64 that were over by then; absent before there are eight.
  [[nodiscard]] std::optional<StepTime> before(TimePoint moment) const;

 private:
  struct Step {
    TimePoint end;
    double seconds = 0;
  };
  std::vector<Step> steps_;  // in order of their ends
};

}  // namespace rubato::analyse
