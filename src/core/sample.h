// Readings of one GPU at one moment. What could not be read is absent, never zero.
#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "base/units.h"

namespace rubato {

/// Why the clock is below the highest one; bits of several may be set.
struct LimiterReasons {
  bool idle = false;
  bool power_cap = false;    // the software power limit
  bool thermal = false;      // software or hardware slowdown by heat
  bool hardware = false;     // hardware slowdown, power brake
  bool user_clocks = false;  // application or locked clocks asked for by somebody
  bool other = false;        // sync boost, display, anything else
  bool operator==(const LimiterReasons&) const = default;
  [[nodiscard]] bool any() const { return *this != LimiterReasons{}; }
};

/// One tick at the sensor's rate.
struct FastReading {
  TimePoint at;
  std::optional<Watts> power;  // the most direct field the driver has (instant before average)
  std::optional<Joules> energy_counter;
};

/// One tick at about 1 Hz, or at window edges.
struct SlowReading {
  TimePoint at;
  std::optional<Megahertz> sm_clock;
  std::optional<Megahertz> memory_clock;
  std::optional<double> sm_utilisation;      // fraction of time, 0..1
  std::optional<double> memory_utilisation;  // fraction of time, 0..1
  std::optional<Celsius> temperature;
  std::optional<LimiterReasons> limiter;
  std::optional<Watts> requested_limit;
  std::optional<Watts> enforced_limit;
};

struct ComputeProcess {
  std::int64_t pid = 0;  // as the driver names it
  std::optional<std::uint64_t> memory_bytes;
};

/// What reading has cost so far: printed, so that nobody has to believe it is little.
struct CallCost {
  std::uint64_t calls = 0;
  Seconds inside;  // wall time inside the driver's library
};

}  // namespace rubato
