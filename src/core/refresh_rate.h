// How often a sensor is refreshed, read at about its own pace: every repeated value is a refresh that had not
// come yet. Told periods are off by up to 5 % (21 ms for 20 ms: Yang, Adamek, Armour, SC24), which decides
// whether a job's iterations beat with it.
#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "base/units.h"

namespace rubato {

class RefreshRate {
 public:
  void add(TimePoint at, Watts power, Seconds told) {
    if (last_) {
      const Seconds apart = at - *last_;
      if (apart > 0.75 * told && apart < 1.25 * told) {
        ++reads_;
        repeats_ += power == value_ ? 1 : 0;
        read_time_ += apart;
      }
    }
    last_ = at;
    value_ = power;
  }
  /// `told` where too little was read, or the readings repeat for another reason: a sensor without noise.
  [[nodiscard]] Seconds period(Seconds told) const {
    const bool too_many = static_cast<double>(repeats_) > kMostRepeats * static_cast<double>(reads_);
    if (reads_ < kEnough || too_many) return told;
    return read_time_ / static_cast<double>(reads_ - repeats_);
  }
  void forget() { *this = {}; }

 private:
  static constexpr std::uint64_t kEnough = 100;
  static constexpr double kMostRepeats = 0.06;
  std::optional<TimePoint> last_;
  Watts value_;
  std::uint64_t reads_ = 0;
  std::uint64_t repeats_ = 0;
  Seconds read_time_;
};

}  // namespace rubato
