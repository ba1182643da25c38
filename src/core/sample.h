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

/// Time held back since the driver was loaded, by cause: the difference of two tells a job slowed by its
/// power limit from one slowed by heat. Causes overlap.
struct LimiterTimes {
  std::optional<Seconds> power_cap;    // the software power limit
  std::optional<Seconds> thermal;      // software slowdown by heat
  std::optional<Seconds> hw_thermal;   // hardware slowdown by heat
  std::optional<Seconds> power_brake;  // asked for from outside the board
  bool operator==(const LimiterTimes&) const = default;
  [[nodiscard]] bool any() const { return *this != LimiterTimes{}; }
};

/// One tick at the sensor's rate. Scopes contain one another and are never added: module (a superchip with
/// its CPU) holds GPU, GPU holds memory.
struct FastReading {
  TimePoint at;
  std::optional<Watts> power;  // GPU scope, the most direct field the driver has (instant before average)
  std::optional<Joules> energy_counter;
  std::optional<Watts> power_average;  // GPU scope, the driver's own mean, where it is another field
  std::optional<Watts> module_power;
  std::optional<Joules> module_energy_counter;
  std::optional<Watts> memory_power;
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
  std::optional<unsigned> performance_state;  // 0 is the fastest
  LimiterTimes limited;                       // each member absent where the driver does not tell
};

/// The clocks alone, for following a change.
struct ClockReading {
  TimePoint at;
  std::optional<Megahertz> sm;
  std::optional<Megahertz> memory;
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
