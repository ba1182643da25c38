// Whether the thread of a session still gets on. Heartbeats from a process whose session stands still, in a
// driver call or before a dead disk, would keep a setting in force whose bound and neighbours nobody watches.
#pragma once

#include <cstdint>

#include "base/clock.h"

namespace rubato::conduct {

/// Without progress for so long, of wall time, no more heartbeats are sent: the guard puts everything back 5
/// s later. A session that comes back takes its GPUs again.
inline constexpr Seconds kStallPatience{3.0};

class StallWatch {
 public:
  explicit StallWatch(TimePoint now) : since_(now) {}

  /// `progress`: any number that changes while the session gets on; `asleep`: it waits for what is due.
  [[nodiscard]] bool stalled(TimePoint now, std::uint64_t progress, bool asleep) {
    if (asleep || progress != progress_) since_ = now;
    progress_ = progress;
    return now - since_ >= kStallPatience;
  }

 private:
  std::uint64_t progress_ = 0;
  TimePoint since_;
};

}  // namespace rubato::conduct
