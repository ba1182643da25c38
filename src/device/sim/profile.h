// What one model of GPU is: clocks, power, sensor, knobs. Read from gpus/*.json, which carries a source per
// figure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace rubato::device::sim {

inline constexpr std::size_t kMostAverage = 16;  // sensor periods in one averaging window

struct VoltagePoint {
  Megahertz clock;
  double volts = 0.0;
};

/// One readable power figure: refreshed every `period`, showing the mean of the last `window` before the
/// refresh.
struct PowerField {
  Seconds period;
  Seconds window;
  std::optional<Seconds> lag;  // Kepler and Maxwell: time constant with which it creeps after the truth
  bool operator==(const PowerField&) const = default;
};

/// Unlocked, the board chooses its clock itself: `highest` when cool, a step less for every `c_per_step`
/// above `from`. A lock ends that: it holds what was asked for, hot or cool.
struct Boost {
  Megahertz highest;
  Celsius from;
  double c_per_step = 0.0;  // 0: heat costs no clock before the slowdown temperature
};

/// From a request to the new clock: `typical`, more or less by up to `spread` of it, always the same for one
/// target clock; now and then `outlier`.
struct ClockLatency {
  Seconds typical;
  double spread = 0.0;
  Seconds outlier;
  double outlier_share = 0.0;
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
  std::optional<unsigned> sm_count;         // the simulated GPU does not go by these two: they are
  std::optional<unsigned> memory_bus_bits;  // the board's peak rates (core/gpu_figures.h)

  Watts limit_min;
  Watts limit_max;
  Watts limit_default;

  std::vector<Megahertz> sm_clocks;      // ascending
  std::vector<Megahertz> memory_clocks;  // ascending
  std::vector<std::uint32_t>
      sm_top_at;  // for each memory clock, the index of the highest SM clock legal with it
  std::vector<unsigned> performance_states;  // for each memory clock; 0 is the fastest
  Megahertz memory_compute;                  // where compute runs unless somebody asks for another
  Boost boost;
  Megahertz application_sm_default;  // what the getter tells while nobody has set any
  Megahertz sm_reference;            // where the figures below hold
  Megahertz memory_reference;
  double compute_rate = 1.0;  // at the reference clocks, over a V100's at its own
  double memory_rate = 1.0;
  Megahertz sm_idle;
  Megahertz memory_idle;
  Megahertz sm_lowest_reached;  // lower requests are not honoured
  Seconds idle_delay;           // without work, until clocks fall to idle
  ClockLatency clock_latency;

  bool can_set_power_limit = true;
  bool has_sm_lock = true;
  bool has_memory_lock = false;
  bool has_application_clocks = false;
  bool has_energy_counter = true;

  std::vector<VoltagePoint> voltage;  // ascending in clock; constant below the first and above the last
  Watts idle;                         // at idle clocks and the leakage reference temperature
  Watts clock_tree;                   // at sm_reference, clocks up, no work
  Watts compute;                      // at sm_reference, compute pipes fully active
  Watts memory_background;            // at memory_reference over idle, clocks up
  Watts memory_traffic;               // at memory_reference, memory fully active
  Watts transport;                    // on the chip for that traffic, at the voltage of sm_reference
  double leakage_w_per_c = 0.0;       // at the highest voltage; falls with its square
  Celsius leakage_reference;

  Celsius ambient;
  double thermal_c_per_w = 0.0;
  Seconds thermal_time;
  Celsius slowdown;     // above it the driver takes clock away step by step
  Celsius hw_slowdown;  // from it on the board halves its clock

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
  bool has_memory_power = false;       // a reading of the memory alone
  std::optional<Watts> module_others;  // superchips: what the module draws besides the GPU

  // Made from the above, one for each SM clock.
  std::vector<double> core_factor;  // f V^2 over that at sm_reference
  std::vector<double> volt_factor;  // V^2 over that at sm_reference
  std::vector<double> leak_factor;  // V^2 over that at the highest voltage

  /// The SM clocks that are legal at one memory clock, ascending; empty where `memory` is not in the table.
  [[nodiscard]] std::vector<Megahertz> sm_clocks_at(Megahertz memory) const;
  [[nodiscard]] double volts_at(Megahertz clock) const;
  [[nodiscard]] double highest_volts() const { return voltage.back().volts; }
};

/// A profile as gpus/*.json holds it. Errors name what it lacks.
[[nodiscard]] Result<Profile> parse_profile(std::string_view json);
/// By name or alias. not_found lists the profiles there are.
[[nodiscard]] Result<const Profile*> find_profile(std::string_view name);

/// By the name the driver prints; null: no profile is of this board.
[[nodiscard]] const Profile* find_board(std::string_view board);

struct ProfileSummary {
  std::string name;
  std::string alias;
  std::string board;
};
[[nodiscard]] std::vector<ProfileSummary> list_profiles();

}  // namespace rubato::device::sim
