// How long the end of a run waits for the thread of its session: not long for a driver call that does not
// come back, as the guard restores without it; longer for the disk of the run record, which keeps no GPU from
// anything.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "conduct/patience.h"

namespace rubato::conduct {

/// A full copy to a network home is in it. Wall time.
inline constexpr Seconds kDiskPatience{60.0};

class EndPatience {
 public:
  enum class Verdict {
    wait,
    disk_is_slow,  // told once: go on waiting
    driver_hangs,
    disk_hangs,
  };

  /// `calls`: calls_begun().
  EndPatience(TimePoint now, std::uint64_t calls) : calls_(calls), driver_since_(now), disk_since_(now) {}

  [[nodiscard]] Verdict look(TimePoint now, std::uint64_t calls, bool at_the_disk) {
    if (at_the_disk || calls != calls_) driver_since_ = now;
    if (!at_the_disk) disk_since_ = now;
    calls_ = calls;
    if (now - driver_since_ >= kDriverPatience) return Verdict::driver_hangs;
    if (now - disk_since_ >= kDiskPatience) return Verdict::disk_hangs;
    if (slow_told_ || now - disk_since_ < kDriverPatience) return Verdict::wait;
    slow_told_ = true;
    return Verdict::disk_is_slow;
  }

 private:
  std::uint64_t calls_;
  TimePoint driver_since_;  // the same call stands, at the longest
  TimePoint disk_since_;
  bool slow_told_ = false;
};

}  // namespace rubato::conduct
