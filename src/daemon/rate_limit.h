// So many a second, with room for a burst: the token bucket.
#pragma once

#include <algorithm>

#include "base/clock.h"

namespace rubato::daemon {

class RateLimit {
 public:
  /// A burst may have two seconds' worth.
  RateLimit(double per_second, TimePoint now) : per_second_(per_second), left_(2 * per_second), at_(now) {}

  /// False: too many; nothing is taken then.
  [[nodiscard]] bool take(TimePoint now) {
    refill(now);
    if (left_ < 1) return false;
    left_ -= 1;
    return true;
  }
  /// When the next one can be had.
  [[nodiscard]] TimePoint next(TimePoint now) {
    refill(now);
    return left_ >= 1 ? now : now + Seconds((1 - left_) / per_second_);
  }

 private:
  void refill(TimePoint now) {
    if (now <= at_) return;
    left_ = std::min(2 * per_second_, left_ + (now - at_).value() * per_second_);
    at_ = now;
  }

  double per_second_;
  double left_;
  TimePoint at_;
};

}  // namespace rubato::daemon
