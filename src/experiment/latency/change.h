// One change of clocks, from what was read while it happened: when the clock read-out was there, and when
// power was.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "core/sample.h"
#include "predict/roofline/roofline.h"

namespace rubato::experiment {

struct ClockPair {
  predict::Clocks from;
  predict::Clocks to;
  bool operator==(const ClockPair&) const = default;
};

/// The read-out counts as there from this far on: a clock step, but never so far that `from` counts as there.
struct ClockTolerance {
  Megahertz sm;
  Megahertz memory;
};
[[nodiscard]] ClockTolerance tolerance_of(const ClockPair& pair, Megahertz sm_step);

/// At the target, or past it coming from `from`. A clock that is not read out counts as there.
[[nodiscard]] bool reached(const ClockPair& pair, const ClockTolerance& tolerance,
                           const ClockReading& reading);
/// Still, or back, at `from`.
[[nodiscard]] bool at_start(const ClockPair& pair, const ClockTolerance& tolerance,
                            const ClockReading& reading);

struct PowerReading {
  TimePoint at;
  Watts power;
};

/// From `asked` to the first reading from which on all are within 10 % of the step from what was read before
/// it to what is read in the last `tail`. Absent where the step does not stand out of the scatter.
[[nodiscard]] std::optional<Seconds> power_delay(std::span<const PowerReading> before, TimePoint asked,
                                                 std::span<const PowerReading> after, Seconds tail);

struct TimedChange {
  std::size_t pair = 0;
  std::optional<Seconds> clock;  // from the driver's being asked; absent: `why_not`
  Seconds known_to;              // half the time between the two readings it lies between
  std::optional<Seconds> power;
  std::string why_not;
};

}  // namespace rubato::experiment
