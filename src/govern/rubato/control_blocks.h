// When to go back to the found setting for a short while: at random moments, so that no rhythm of the job can
// hide from it, and for at most 1 % of the run.
#pragma once

#include "base/clock.h"
#include "base/random.h"
#include "base/units.h"

namespace rubato::govern {

class ControlBlocks {
 public:
  static constexpr double kShare = 0.01;

  /// `length`: of one block, with what drains before and after it.
  void plan(TimePoint now, TimePoint run_begin, Seconds length, Random& random) {
    length_ = length;
    const TimePoint allowed = run_begin + (spent_ + length) / kShare;
    due_ = (allowed < now ? now : allowed) + random.uniform(0.0, 0.5) * (length / kShare);
  }
  [[nodiscard]] bool due(TimePoint now, TimePoint run_begin) const {
    return now >= due_ && spent_ + length_ <= (now - run_begin) * kShare;
  }
  void begin(TimePoint now) { begin_ = now; }
  void end(TimePoint now) { spent_ += now - begin_; }

 private:
  Seconds length_;
  Seconds spent_;
  TimePoint begin_;
  TimePoint due_;
};

}  // namespace rubato::govern
