// Counts work and energy up to the end of the latest iteration for which both are known: what strategies
// take differences of. Pure; sensors speak later than iterations end, so its tally lags by an update or two.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "base/clock.h"
#include "govern/tally.h"
#include "progress/iteration_tracker.h"

namespace rubato::conduct {

class TallyKeeper {
 public:
  explicit TallyKeeper(TimePoint begin) : points_{{begin, Joules(0)}} {}

  /// In the order of their ends. Iterations whose marks were lost count; a pause, and an iteration with one
  /// inside, is no work and counts as time and energy outside of it.
  void iteration(const progress::TrackedIteration& tracked);
  /// What all steered GPUs together drew since the run began, known by now. In any order of time, so that a
  /// reading exactly at wanted() may come after a later one.
  void energy(TimePoint at, Joules since_begin);
  /// The energy at this moment is the one that is wanted most: the latest end not after `known_until`.
  [[nodiscard]] std::optional<TimePoint> wanted(TimePoint known_until) const;

  [[nodiscard]] const std::optional<govern::Tally>& tally() const { return tally_; }

 private:
  struct Span {
    TimePoint begin;
    TimePoint end;
  };
  struct Point {
    TimePoint at;
    Joules energy;
  };
  struct End {
    TimePoint at;
    double work = 0;
    std::optional<Span> outside;  // since the end before
  };

  void settle();
  [[nodiscard]] Joules energy_at(TimePoint at) const;
  void forget();

  std::deque<Point> points_;  // ascending; never empty
  std::deque<End> ends_;      // later than the tally
  std::optional<std::int64_t> last_index_;
  double work_ = 0;
  std::optional<govern::Tally> tally_;
};

}  // namespace rubato::conduct
