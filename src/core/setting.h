// What can be asked of a GPU. An absent member means "leave as it is".
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"

namespace rubato {

enum class Knob { power_limit, sm_clock, memory_clock, application_clocks };

[[nodiscard]] std::string_view name_of(Knob knob);  // "power-limit", as on the command line
[[nodiscard]] Result<Knob> parse_knob(std::string_view name);

struct ClockRange {
  Megahertz min;
  Megahertz max;
  auto operator<=>(const ClockRange&) const = default;
};

/// Pre-Volta only; deprecated by the driver, but the one clock setting that has a getter.
struct ApplicationClocks {
  Megahertz memory;
  Megahertz sm;
  auto operator<=>(const ApplicationClocks&) const = default;
};

struct Setting {
  std::optional<Watts> power_limit;
  std::optional<ClockRange> sm_clock;
  std::optional<ClockRange> memory_clock;
  std::optional<ApplicationClocks> application_clocks;

  bool operator==(const Setting&) const = default;
  [[nodiscard]] bool empty() const { return *this == Setting{}; }
};

/// "150 W, SM 1005 MHz", or "nothing" where empty.
[[nodiscard]] std::string describe(const Setting& setting);

/// The one clock setting that can be read, so the one that can be put back exactly.
struct ApplicationClockReading {
  ApplicationClocks requested;
  ApplicationClocks by_default;  // what the driver's reset sets
};

/// Power limits as the driver tells them apart.
struct PowerLimits {
  Watts min;
  Watts max;
  Watts default_limit;  // what a driver reload sets
  Watts requested;      // what somebody last asked for: this is what restoring puts back
  Watts enforced;       // the lowest of all sources: requested, out-of-band, thermal
};

}  // namespace rubato
