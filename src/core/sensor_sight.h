// What a power reading shows of the power, as far as it is known: how long it is a mean over, how late it
// comes, which part of the time nobody sees.
#pragma once

#include <algorithm>
#include <optional>

#include "base/units.h"

namespace rubato {

struct SensorSight {
  Seconds period;                 // between two refreshes
  std::optional<Seconds> window;  // a reading is the mean of that much time before its refresh
  std::optional<Seconds> lag;     // instead of a window: time constant with which it creeps after the power

  /// Part of each period in which the power goes unseen. Where the window is unknown, as blind as the worst
  /// boards of that period: 10 of 20 ms and 25 of 100 ms (Yang, Adamek, Armour, SC24).
  [[nodiscard]] double unseen() const {
    if (lag) return 0.0;
    if (window) return std::max(0.0, 1.0 - *window / period);
    return period < Seconds(0.05) ? 0.5 : 0.75;
  }
  /// Variance of what passed unseen between two looks, over their squared difference. Looks at random moments
  /// differ by twice their variance; one step of the power between two looks, which is what is left beside a
  /// beat where the job's steps are known, comes anywhere between them.
  [[nodiscard]] double unseen_variance(bool steps_known) const {
    return unseen() * unseen() * (steps_known ? 0.125 : 0.5);
  }
  [[nodiscard]] Seconds window_or_none() const { return lag ? Seconds(0) : window.value_or(Seconds(0)); }
  /// How far behind the power a reading is on average, a lag apart: the middle of its window, refreshed
  /// somewhere within the period before it was read.
  [[nodiscard]] Seconds behind() const { return 0.5 * (period + window_or_none()); }
  /// Over how long a time power that moves cannot be told apart.
  [[nodiscard]] Seconds blur() const {
    return std::max({period, window_or_none(), lag.value_or(Seconds(0))});
  }
};

}  // namespace rubato
