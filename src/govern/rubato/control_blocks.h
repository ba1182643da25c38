// When to go back to the found setting for a short while: at random moments, so that no rhythm of the job can
// hide from it, and for at most 1 % of the run. Where knowing it better does not pay, the rate falls with the
// root of how many there were.
#pragma once

#include <algorithm>
#include <cmath>

#include "base/clock.h"
#include "base/random.h"
#include "base/units.h"

namespace rubato::govern {

class ControlBlocks {
 public:
  static constexpr double kShare = 0.01;
  static constexpr double kLeastShare = 0.0025;

  /// `length`: of one block, with what drains before and after it.
  void plan(TimePoint now, Seconds length, Random& random) {
    length_ = length;
    planned_ = now;
    wait_ = length * random.uniform(0.0, 0.5);
  }
  /// `worth`: knowing the found setting better pays for blocks at the highest rate.
  [[nodiscard]] bool due(TimePoint now, TimePoint run_begin, bool worth) const {
    const double share = worth ? kShare : resting_share();
    return spent_ + length_ + wait_ <= (now - run_begin) * share && wait_ <= (now - planned_) * share;
  }
  void begin(TimePoint now) { begin_ = now; }
  void end(TimePoint now) {
    spent_ += now - begin_;
    ++blocks_;
  }

 private:
  [[nodiscard]] double resting_share() const {
    return std::max(kShare / std::sqrt(1.0 + blocks_), kLeastShare);
  }

  Seconds length_;
  Seconds wait_;
  Seconds spent_;
  TimePoint begin_;
  TimePoint planned_;
  unsigned blocks_ = 0;
};

}  // namespace rubato::govern
