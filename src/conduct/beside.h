// Somebody who has a say in this run beside its strategy: the agents of the same job on other nodes.
#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"

namespace rubato::conduct {

struct IterationsNow {
  std::int64_t completed = 0;
  std::optional<TimePoint> last_end;
  bool by_marks = false;  // the program itself tells of them
};

class Beside {
 public:
  virtual ~Beside() = default;
  /// When the session is to step and look whether an iteration has ended.
  [[nodiscard]] virtual TimePoint next_due() const = 0;
  /// At every step of the session. True: the strategy has news and is to be asked at once.
  virtual bool step(TimePoint now, const IterationsNow& iterations) = 0;
};

}  // namespace rubato::conduct
