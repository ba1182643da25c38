// How a simulated world starts and misbehaves: rights, rate, what is found, faults. One JSON file
// (docs/formats.md#scenario), applied when the world is made and kept in it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "core/setting.h"
#include "device/sim/call.h"

namespace rubato::device::sim {

enum class Rights : std::uint32_t {
  owner,          // the user who owns the world may set
  cap_sys_admin,  // effective CAP_SYS_ADMIN of the caller, as the real driver asks
  none,
};

enum class Effect : std::uint32_t {
  error,
  lie,    // a write that says it succeeded and did nothing
  clamp,  // a power limit that silently ends at `to`
  slow,
  hang,
  kill_before,    // the calling process dies by SIGKILL before the call does anything
  kill_after,     // ... after it did its work
  foreign_limit,  // somebody else sets the power limit to `to` just before the call
  driver_reload,  // ... reloads the driver just before the call

  foreign_sm_clock,  // ... locks the SM clock to `to_clock`, or unlocks it where that is absent
  gpu_reset,         // ... resets the GPU: settings gone, counter 0, its compute contexts dead
  gpu_lost,          // the GPU falls off the bus: from now on every call fails, and its contexts are dead
  counter_reset,     // the energy counter begins at 0 again
  stale_sensor,      // for `span` power and energy counter show what they showed
  absurd_reading,    // this reading of power is `to`, or this one of the counter is `jump` too high
  power_brake,       // for `span` somebody outside the board asks for half the clock
};

struct Fault {
  std::optional<CallId> call;  // absent: every call
  std::uint64_t after = 0;     // this many matching calls pass first
  std::uint64_t count = 1;     // then this many are hit
  Effect effect = Effect::error;
  ErrorCode error = ErrorCode::internal;  // "unknown" in the file
  std::optional<unsigned> gpu;            // absent: a call to any of them
  Seconds from;                           // nothing is counted before the world is this old
  std::optional<Watts> to;
  std::optional<ClockRange> to_clock;
  Joules jump;
  Seconds span;
  Seconds wall;      // of Effect::slow
  std::string role;  // only processes whose RUBATO_SIM_ROLE is this; empty: every process
};

struct Scenario {
  std::optional<Rights> rights;  // absent: what the view that makes the world takes as its default
  double rate = 1.0;             // simulated seconds per wall second
  bool outlives_job = true;
  std::uint64_t seed = 1;
  std::optional<Celsius> temperature;  // at the start; absent: ambient
  std::optional<Celsius> ambient;      // absent: the profile's
  std::optional<Watts> found_power_limit;
  std::optional<ClockRange> found_sm_clock;
  std::optional<ClockRange> found_memory_clock;
  std::optional<ApplicationClocks> found_application_clocks;
  bool energy_counter = true;
  std::vector<Fault> faults;
};

inline constexpr std::size_t kMostFaults = 32;
inline constexpr std::uint64_t kAlways = ~std::uint64_t{0};  // Fault::count: "always"

/// Errors name the field.
[[nodiscard]] Result<Scenario> parse_scenario(std::string_view json);
/// The file named by RUBATO_SIM_SCENARIO, or the defaults where it is not set.
[[nodiscard]] Result<Scenario> scenario_from_environment();
/// Puts the variable, the file and what to do before an error that a scenario of the environment caused.
[[nodiscard]] Error blame_environment(Error error);

}  // namespace rubato::device::sim
