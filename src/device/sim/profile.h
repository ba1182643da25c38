// What one model of GPU is: clocks, power, sensor, knobs. Read from gpus/*.json, which carries a source per
// figure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace rubato::device::sim {

struct VoltagePoint {
  Megahertz clock;
  double volts = 0.0;
};

/// One readable power figure: refreshed every `period`, showing the mean of the last `window` before the
/// refresh.
struct PowerField {
  Seconds period;
  Seconds window;
};

struct Profile {
  std::string name;   // "v100-pcie-16gb", the file's name
  std::string alias;  // "v100"
  std::string board;  // as the driver prints it: "Tesla V100-PCIE-16GB"
  std::string driver_version;
  std::string architecture;  // "volta"
  unsigned compute_major = 0;
  unsigned compute_minor = 0;
  std::uint32_t pci_device_id = 0;  // device << 16 | vendor, as NVML gives it
  std::uint64_t memory_bytes = 0;

  Watts limit_min;
  Watts limit_max;
  Watts limit_default;

  std::vector<Megahertz> sm_clocks;      // ascending
  std::vector<Megahertz> memory_clocks;  // ascending
  Megahertz sm_reference;                // where the figures below hold
  Megahertz memory_reference;
  double compute_rate = 1.0;  // at the reference clocks, over a V100's at its own
  double memory_rate = 1.0;
  Megahertz sm_idle;
  Megahertz memory_idle;
  Megahertz sm_lowest_reached;  // lower requests are not honoured
  Seconds idle_delay;           // without work, until clocks fall to idle
  Seconds clock_latency;        // from a request to the new clock

  bool has_memory_lock = false;
  bool has_application_clocks = false;
  bool has_energy_counter = true;

  std::vector<VoltagePoint> voltage;  // ascending in clock; constant below the first and above the last
  Watts idle;                         // at idle clocks and the leakage reference temperature
  Watts clock_tree;                   // at sm_reference, clocks up, no work
  Watts compute;                      // at sm_reference, compute pipes fully active
  Watts memory_background;            // at memory_reference over idle, clocks up
  Watts memory_traffic;               // at memory_reference, memory fully active
  double leakage_w_per_c = 0.0;       // at the highest voltage; falls with its square
  Celsius leakage_reference;

  Celsius ambient;
  double thermal_c_per_w = 0.0;
  Seconds thermal_time;

  Seconds limiter_period;          // one decision
  Seconds limiter_lag;             // time constant of the power average it decides on
  unsigned limiter_steps = 1;      // most clock steps a decision
  double limiter_dead_band = 0.0;  // it climbs again only below limit * (1 - dead band)

  PowerField instant;
  PowerField average;
  double sensor_gain = 1.0;
  Watts sensor_offset;
  double sensor_gain_spread = 0.0;  // standard deviation over boards of the model
  Seconds counter_period;
  std::string sensor_source;

  /// The SM clocks that are legal at one memory clock, ascending; empty where `memory` is not in the table.
  [[nodiscard]] std::vector<Megahertz> sm_clocks_at(Megahertz memory) const;
  [[nodiscard]] double volts_at(Megahertz clock) const;
  [[nodiscard]] double highest_volts() const { return voltage.back().volts; }
};

/// By name or alias. not_found lists the profiles there are.
[[nodiscard]] Result<const Profile*> find_profile(std::string_view name);

struct ProfileSummary {
  std::string name;
  std::string alias;
  std::string board;
};
[[nodiscard]] std::vector<ProfileSummary> list_profiles();

}  // namespace rubato::device::sim
