// What a run was to reach, and what its strategy expected of the settings it chose from, as rows of a record.
#pragma once

#include <string>

#include "base/clock.h"
#include "core/expectation.h"
#include "core/objective.h"

namespace rubato::record {

/// What a strategy that chooses settings was made for.
struct GoalInForce {
  TimePoint at;
  std::string strategy;
  Goal goal;
};

/// As it stood at a decision. Kept where it changed.
struct ExpectationAt {
  TimePoint at;
  Expectation expectation;
};

}  // namespace rubato::record
