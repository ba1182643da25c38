// What an energy counter did between two readings. A counter lower than before means the driver was reloaded,
// one that leaps means that it lies: the difference is then unknown, never a huge or a negative energy.
#pragma once

#include <optional>
#include <variant>

#include "base/units.h"

namespace rubato::measure {

struct CounterFirst {};
struct CounterAdvance {
  Joules by;
};
struct CounterReset {};
/// More than any board can have drawn; below zero: less than before, but too much for a counter that began
/// anew.
struct CounterJump {
  Joules by;
};
/// It moves again after it had stood still while the power went on, and has not made up for it.
struct CounterStood {
  Seconds still;
};
using CounterStep = std::variant<CounterFirst, CounterAdvance, CounterReset, CounterJump, CounterStood>;

class CounterDiff {
 public:
  CounterStep update(Joules counter) {
    const std::optional<Joules> before = last_;
    last_ = counter;
    if (!before) return CounterFirst{};
    if (counter < *before) return CounterReset{};
    return CounterAdvance{counter - *before};
  }
  [[nodiscard]] std::optional<Joules> last() const { return last_; }

 private:
  std::optional<Joules> last_;
};

}  // namespace rubato::measure
