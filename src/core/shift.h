// A lasting change in what the job does, as it was noticed.
#pragma once

#include <string>

#include "base/clock.h"

namespace rubato {

struct Shift {
  TimePoint at;       // when it is thought to have happened
  TimePoint noticed;  // end of the reading that told
  std::string what;   // "period", "power", "utilisation", or a feature's name
  double from = 0;
  double to = 0;
  std::string unit;  // "s", "W", "" for fractions
  std::string why;   // one sentence
};

}  // namespace rubato
