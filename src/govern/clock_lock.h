// Was a clock lock in force before we came? No driver call tells; the GPU under load does: it stays below its
// highest clock and no limiter says why.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "govern/strategy.h"

namespace rubato::govern {

class ClockLockEvidence {
 public:
  /// Counts each slow reading under load once.
  void look(const Observation& o);

  [[nodiscard]] int readings() const { return readings_; }
  [[nodiscard]] bool enough() const { return readings_ >= kReadingsNeeded; }
  /// Why clocks must not be set: a lock is suspected, or there is too little to tell. Absent: they may.
  [[nodiscard]] std::optional<std::string> objection() const;

 private:
  static constexpr int kReadingsNeeded = 2;

  std::optional<TimePoint> latest_;
  int readings_ = 0;
  int below_ = 0;  // of them, clearly below the highest clock without a reason
  Megahertz seen_;
  Megahertz highest_;
};

}  // namespace rubato::govern
