// What one GPU lets us read and set, found without making a setting call, and why not where it does not.
#pragma once

#include <optional>
#include <string>

#include "base/units.h"

namespace rubato {

struct Capability {
  bool available = false;
  std::string
      why_not;  // empty where available; else one clause: "needs CAP_SYS_ADMIN, which this process lacks"
  std::string hint;          // what to do about it, or empty where nothing helps
  bool needs_right = false;  // the GPU could; a right of this process is all that is missing

  [[nodiscard]] static Capability yes() { return {true, {}, {}}; }
  [[nodiscard]] static Capability no(std::string why, std::string what_helps = {}) {
    return {false, std::move(why), std::move(what_helps)};
  }
  [[nodiscard]] static Capability forbidden(std::string why, std::string what_helps = {}) {
    return {false, std::move(why), std::move(what_helps), true};
  }
};

struct Capabilities {
  Capability read_power;
  Capability read_energy_counter;
  Capability read_clocks;
  Capability read_utilisation;
  Capability read_limiter;
  Capability read_limiter_times;
  Capability read_average_power;
  Capability read_module_power;
  Capability read_memory_power;
  Capability read_application_clocks;
  Capability read_counters;  // Gpu::read_counters(), by a real read
  Capability read_processes;
  Capability set_power_limit;
  Capability set_sm_clock;
  Capability set_memory_clock;
  Capability set_application_clocks;
};

/// Half widths that held every board measured against another meter (Yang, Adamek, Armour, SC24: 16 models)
/// at 12 to 100 % of its highest power: 5 % are what nvml.h states for Kepler, the watts
/// are what boards need besides. rubato-sensor-truth derives them again, and judges them on models left out.
inline constexpr double kUncalibratedBand = 0.05;
inline constexpr Watts kUncalibratedFloor{20};

/// What is known of a power sensor before it is measured; absent is unknown, which is legal.
struct SensorFacts {
  std::optional<Seconds> update_period;
  std::optional<Seconds> averaging_window;
  // Instead of a window: time constant with which a reading creeps after the power.
  std::optional<Seconds> lag = std::nullopt;
  std::optional<Seconds> counter_period;  // of the energy counter
  bool counter_sees_all = false;          // measured; else it is taken to see no more than the readings do
  double calibration_band = 0.10;         // half width, as a fraction of the reading
  Watts calibration_floor{};              // half width besides, whatever the reading
  // Of this very board against another meter; the true power is taken as reading / gain - offset.
  std::optional<double> gain;
  std::optional<Watts> offset;  // absent beside a gain: unknown, as the other meter saw more than the board
  std::string calibrated_by;    // "calibrated against snmp:rack on 2026-11-21"; empty where not
  std::string source;           // where the figures come from
};

}  // namespace rubato
