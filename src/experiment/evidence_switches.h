// How long a change of a setting takes until it shows: in the limit that can be read back, in the SM clock
// and in the power, as somebody sees them who reads as often as the driver lets him.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/units.h"
#include "predict/curve.h"
#include "record/reader.h"

namespace rubato::experiment {

/// One look at the GPU.
struct Glance {
  TimePoint at;
  std::optional<Megahertz> sm_clock;
  std::optional<Watts> power;
  std::optional<Watts> requested_limit;
};

/// A change that rubato asked for and the driver accepted.
struct Switch {
  TimePoint asked;        // the journal is synced and the guard writes after this moment
  TimePoint until;        // when the next one was asked for, or less: what comes later is not its doing
  predict::KnobPoint to;  // without any knob: back to the found setting
  predict::KnobPoint from;
};

/// From `asked` to the first of three glances in a row that have gone 90 % of the way; absent where no change
/// stood out of the scatter, or it came before the next change only in part.
struct SwitchTimes {
  Switch change;
  std::optional<Seconds> read_back;  // of a power limit
  std::optional<Seconds> clock;
  std::optional<Seconds> power;  // the sensor's own delay is in it
};

struct TimesSummary {
  std::size_t count = 0;
  Seconds least;
  Seconds median;
  Seconds mean;
  Seconds most;
  std::optional<Seconds> deviation;  // standard; absent below two
};

/// Each is looked at for `hold` at most: after the last one the job ends.
[[nodiscard]] std::vector<Switch> switches_of(const record::RunRecord& run, Seconds hold);
[[nodiscard]] SwitchTimes times_of(const Switch& change, std::span<const Glance> glances);
/// Absent: none.
[[nodiscard]] std::optional<TimesSummary> summary_of(const std::vector<Seconds>& times);
/// Median distance between two glances: no time is known better than this.
[[nodiscard]] std::optional<Seconds> resolution_of(std::span<const Glance> glances);

}  // namespace rubato::experiment
