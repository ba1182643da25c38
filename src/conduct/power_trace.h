// The last twenty minutes of a power signal at the pace a lag is looked for: enough to align it with another,
// and no more however long the run.
#pragma once

#include <deque>
#include <vector>

#include "measure/lag.h"

namespace rubato::conduct {

class PowerTrace {
 public:
  /// Readings less than a bin apart become one, at their mean.
  void add(TimePoint at, Watts power) {
    if (count_ > 0 && at - first_ >= kBin) close();
    if (count_ == 0) first_ = at;
    after_first_s_ += (at - first_).value();
    power_w_ += power.value();
    ++count_;
  }
  [[nodiscard]] std::vector<measure::PowerAt> points() {
    if (count_ > 0) close();
    return {points_.begin(), points_.end()};
  }

 private:
  static constexpr Seconds kBin{0.05};
  static constexpr std::size_t kMost = 24'000;  // 20 minutes
  void close() {
    points_.push_back({first_ + Seconds(after_first_s_ / count_), Watts(power_w_ / count_)});
    if (points_.size() > kMost) points_.pop_front();
    after_first_s_ = power_w_ = count_ = 0;
  }
  std::deque<measure::PowerAt> points_;
  TimePoint first_;
  double after_first_s_ = 0;
  double power_w_ = 0;
  double count_ = 0;
};

/// Power that is the sum of all of them where all are known, at the readings of the first; linear between
/// readings.
[[nodiscard]] std::vector<measure::PowerAt> sum_of(const std::vector<std::vector<measure::PowerAt>>& traces);

}  // namespace rubato::conduct
