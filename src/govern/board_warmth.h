// Whether a board has stopped warming up: a warm one draws more at the same clocks, and is throttled sooner.
#pragma once

#include <deque>
#include <utility>

#include "govern/strategy.h"

namespace rubato::govern {

class BoardWarmth {
 public:
  void restart() { seen_.clear(); }
  /// The temperature moved by no more than a degree in 15 s; true where nobody tells a temperature.
  [[nodiscard]] bool steady(const Observation& o);

 private:
  std::deque<std::pair<TimePoint, Celsius>> seen_;
};

}  // namespace rubato::govern
