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

/// Energy since the first reading, at one moment.
struct CounterPoint {
  double energy_j = 0;
  double edge_band_j = 0;  // of this point alone
  double join_band_j = 0;  // of all resets so far
  unsigned resets = 0;
};

class CounterTrack {
 public:
  explicit CounterTrack(Seconds counter_period);

  /// The power of the same reading must be in `power` already. Readings must come in time order.
  CounterStep add(TimePoint at, Joules counter, const PowerIntegral& power);

  /// Absent where there is no reading, the counter has stood still for more than a few of its updates, or `t`
  /// lies in what was forgotten.
  [[nodiscard]] std::optional<CounterPoint> at(TimePoint t, const PowerIntegral& power) const;

  void forget(TimePoint before);
  [[nodiscard]] std::size_t updates() const { return nodes_.size(); }

 private:
  /// One update of the counter. It happened between the last reading that showed the old value and the first
  /// that showed the new one, and no longer than one counter period before the latter; `at` is the middle of
  /// that.
  struct Node {
    TimePoint at;
    double half_width_s = 0;
    double energy_j = 0;
    double join_band_j = 0;
    unsigned resets = 0;
  };

  [[nodiscard]] PowerRange range_near(TimePoint t, const PowerIntegral& power) const;
  [[nodiscard]] std::optional<CounterPoint> extrapolate(const Node& end, TimePoint t,
                                                        const PowerIntegral& power) const;

  Seconds period_;
  CounterDiff diff_;
  std::optional<TimePoint> last_seen_;
  std::deque<Node> nodes_;
  bool forgot_ = false;
};

}  // namespace rubato::measure
