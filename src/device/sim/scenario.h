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
};

struct Fault {
  std::optional<CallId> call;  // absent: every call
  std::uint64_t after = 0;     // this many matching calls pass first
  std::uint64_t count = 1;     // then this many are hit
  Effect effect = Effect::error;
  ErrorCode error = ErrorCode::internal;  // "unknown" in the file
  std::optional<Watts> to;
  Seconds wall;      // of Effect::slow
  std::string role;  // only processes whose RUBATO_SIM_ROLE is this; empty: every process
};

struct Scenario {
  std::optional<Rights> rights;  // absent: what the view that makes the world takes as its default
  double rate = 1.0;             // simulated seconds per wall second
  bool outlives_job = true;
  std::uint64_t seed = 1;
  std::optional<Celsius> temperature;  // at the start; absent: ambient
  std::optional<Watts> found_power_limit;
  bool energy_counter = true;
  std::vector<Fault> faults;
};

inline constexpr std::size_t kMostFaults = 32;

/// Errors name the field.
[[nodiscard]] Result<Scenario> parse_scenario(std::string_view json);
/// The file named by RUBATO_SIM_SCENARIO, or the defaults where it is not set.
[[nodiscard]] Result<Scenario> scenario_from_environment();

}  // namespace rubato::device::sim
