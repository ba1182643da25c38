// Tells an advance of an energy counter from its reset. A counter lower than before means the driver was
// reloaded: the difference is then unknown, never a huge or a negative energy.
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
using CounterStep = std::variant<CounterFirst, CounterAdvance, CounterReset>;

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
