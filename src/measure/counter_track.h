// The driver's energy counter as one line that never falls: its updates placed in time, its resets joined
// with integrated power, its value at any moment with a band.
#pragma once

#include <deque>
#include <optional>

#include "base/clock.h"
#include "base/units.h"
#include "measure/counter_diff.h"
#include "measure/power_integral.h"

namespace rubato::measure {

/// Stretches in which the counter told nothing that can be believed, and power was integrated instead.
struct CounterFaults {
  unsigned resets = 0;
  unsigned jumps = 0;
  unsigned stills = 0;
  [[nodiscard]] unsigned count() const { return resets + jumps + stills; }
};

/// Energy since the first reading, at one moment.
struct CounterPoint {
  double energy_j = 0;
  double edge_variance_j2 = 0;  // of this point alone
  double join_band_j = 0;       // half width, of all faults so far
  CounterFaults faults;         // so far
};

class CounterTrack {
 public:
  /// `most`: an advance at a higher power than this is a jump, not energy.
  explicit CounterTrack(Seconds counter_period, Watts most = Watts(5000));
  /// From here on, where it turns out to be another one.
  void set_period(Seconds counter_period) { period_ = counter_period; }

  /// The power of the same reading must be in `power` already. Readings must come in time order. `rests`: a
  /// counter that does not move has nothing to count, as a table's between its jobs.
  CounterStep add(TimePoint at, Joules counter, const PowerIntegral& power, bool rests = false);

  /// Absent where there is no reading near `t`, the counter never moved, or `t` lies in what was forgotten.
  /// Beyond the last update of a counter that moved once, integrated power goes on as a fault; where no power
  /// is read, less than the counter's next step has flowed, as long as it has not stopped.
  [[nodiscard]] std::optional<CounterPoint> at(TimePoint t, const PowerIntegral& power) const;

  void forget(TimePoint before);
  [[nodiscard]] std::size_t updates() const { return nodes_.size(); }
  /// How long the counter has shown the same value by now; absent where it was never read.
  [[nodiscard]] std::optional<Seconds> still_for() const;

 private:
  /// One update of the counter. It happened between the last reading that showed the old value and the first
  /// that showed the new one, and no longer than one counter period before the latter; `at` is the middle of
  /// that.
  struct Node {
    TimePoint at;
    Joules shown;
    double half_width_s = 0;
    double energy_j = 0;
    double join_band_j = 0;
    CounterFaults faults;
  };

  /// The most that can have flowed from `from` to `to`, an update late at either end.
  [[nodiscard]] Joules most_between(TimePoint from, TimePoint to) const;
  /// Whether the latest value was read wrongly: this one goes on from the value before as if that had not
  /// been. Then it is gone.
  bool drop_glitch(const Node& node);
  void learn_pace(const Node& node);
  /// Moves `node` on from the latest one by integrated power, at least by `at_least`.
  void join(Node& node, Joules at_least, const PowerIntegral& power) const;
  /// How long the counter had been seen standing still before `at`, where that is longer than it may.
  [[nodiscard]] std::optional<Seconds> stood_still(TimePoint at, Seconds unseen) const;
  [[nodiscard]] PowerRange range_near(TimePoint t, const PowerIntegral& power) const;
  [[nodiscard]] std::optional<CounterPoint> extrapolate(const Node& end, TimePoint t,
                                                        const PowerIntegral& power) const;
  /// Where no power tells: from nothing to one step of the counter has flowed since.
  [[nodiscard]] std::optional<CounterPoint> within_step(const Node& end, Seconds away) const;

  Seconds period_;
  Watts most_;
  CounterDiff diff_;
  std::optional<TimePoint> last_seen_;
  std::deque<Node> nodes_;
  std::optional<Joules> least_rise_;  // the counter's own step, where that is coarse
  Seconds longest_wait_{};            // between two updates
  bool forgot_ = false;
};

}  // namespace rubato::measure
