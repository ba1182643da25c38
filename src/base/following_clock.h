// The clock of a simulated world in private memory, which has no time of its own.
#pragma once

#include <atomic>

#include "base/clock.h"

namespace rubato {

/// Stands at the latest time any call gave. Thread-safe.
class FollowingClock final : public Clock {
 public:
  explicit FollowingClock(TimePoint start) : ns_(start.ns) {}
  [[nodiscard]] TimePoint now() const override { return TimePoint{ns_.load()}; }
  [[nodiscard]] Seconds wall(Seconds) const override { return Seconds(0); }
  void follow(TimePoint t) {
    std::int64_t seen = ns_.load();
    while (t.ns > seen && !ns_.compare_exchange_weak(seen, t.ns)) {
    }
  }

 private:
  std::atomic<std::int64_t> ns_;
};

}  // namespace rubato
