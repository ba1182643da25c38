// Ctrl-C as people mean it: the first is for the job, which may take its time; a second right after it means
// "do not wait for it any longer". Later it is another first one, as for a job that saves its state at each.
#pragma once

#include <optional>

#include "base/clock.h"

namespace rubato::conduct {

inline constexpr Seconds kSecondInterrupt{2.0};  // of wall time

class Interrupts {
 public:
  /// Whether this one is a second one.
  [[nodiscard]] bool came(TimePoint now) {
    const bool second = last_ && now - *last_ <= kSecondInterrupt;
    last_ = now;
    return second;
  }

 private:
  std::optional<TimePoint> last_;
};

}  // namespace rubato::conduct
