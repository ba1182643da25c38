// How many marks a record takes: a thousand a second in the mean of a minute. A program that marks every
// layer of every step writes more than anybody reads; what is left out is counted.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/clock.h"

namespace rubato::record {

class MarkQuota {
 public:
  struct Dropped {
    TimePoint begin;
    TimePoint end;
    std::uint64_t marks = 0;
  };

  /// False: this one is left out.
  bool admit(TimePoint mark) {
    if (left_ >= 1) {
      left_ -= 1;
      return true;
    }
    if (!dropped_) dropped_ = {mark, mark, 0};
    dropped_->begin = std::min(dropped_->begin, mark);
    dropped_->end = std::max(dropped_->end, mark);
    ++dropped_->marks;
    return false;
  }
  void step(TimePoint now) {
    if (last_ && now > *last_) left_ = std::min(kAtOnce, left_ + kPerSecond * (now - *last_).value());
    if (!last_ || now > *last_) last_ = now;
  }
  /// What was left out, once a minute of it or where `all` is asked for.
  [[nodiscard]] std::optional<Dropped> take_dropped(bool all) {
    if (!dropped_ || (!all && dropped_->end - dropped_->begin < Seconds(kAtOnce / kPerSecond)))
      return std::nullopt;
    return std::exchange(dropped_, std::nullopt);
  }

 private:
  static constexpr double kPerSecond = 1000;
  static constexpr double kAtOnce = 60 * kPerSecond;
  double left_ = kAtOnce;
  std::optional<TimePoint> last_;
  std::optional<Dropped> dropped_;
};

}  // namespace rubato::record
