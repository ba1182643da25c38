// Which setting was in force when. Work is told of later than settings are changed, and a change may be asked
// for long before it happens, so neither what is asked for nor what is in force now says how time was spent.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>

#include "base/clock.h"

namespace rubato::govern {

class SettingLog {
 public:
  /// `setting` is in force at `now`. A change since the question before took place right behind that one:
  /// that is when decisions are carried out.
  void see(TimePoint now, std::size_t setting) {
    if (stays_.empty() || stays_.back().setting != setting)
      stays_.push_back({stays_.empty() ? now : seen_, setting});
    seen_ = now;
  }

  /// Tells `ran(setting, seconds)` for every part of a stretch; what lies before the latest one told is
  /// forgotten. Nothing while no setting was seen.
  template <class Ran>
  void tell(TimePoint from, TimePoint to, const Ran& ran) {
    for (std::size_t i = 0; i < stays_.size(); ++i) {
      // Before anything was seen it was as it then was.
      const TimePoint begin = i == 0 ? from : std::max(from, stays_[i].since);
      const TimePoint end = i + 1 < stays_.size() ? std::min(to, stays_[i + 1].since) : to;
      if (end > begin) ran(stays_[i].setting, end - begin);
    }
    while (stays_.size() > 1 && stays_[1].since <= to) stays_.pop_front();
  }

 private:
  struct Stay {
    TimePoint since;
    std::size_t setting = 0;
  };
  std::deque<Stay> stays_;
  TimePoint seen_;
};

}  // namespace rubato::govern
