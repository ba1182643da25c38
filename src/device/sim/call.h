// The driver calls a simulated GPU answers: what a scenario's faults name, and what both thin views go
// through.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace rubato::device::sim {

enum class CallId : std::uint32_t {
  open,  // initialise the driver
  read_power,
  read_energy_counter,
  read_clocks,
  read_utilisation,
  read_temperature,
  read_limiter,
  read_power_limits,
  read_supported_clocks,
  read_processes,
  read_counters,
  set_power_limit,
  lock_sm_clock,
  reset_sm_clock,
  lock_memory_clock,
  reset_memory_clock,
  set_application_clocks,
  reset_application_clocks,
  count_,
};

inline constexpr std::size_t kCallCount = static_cast<std::size_t>(CallId::count_);

/// As in the field "call" of a scenario.
inline constexpr std::array<std::string_view, kCallCount> kCallNames = {"open",
                                                                        "read_power",
                                                                        "read_energy_counter",
                                                                        "read_clocks",
                                                                        "read_utilisation",
                                                                        "read_temperature",
                                                                        "read_limiter",
                                                                        "read_power_limits",
                                                                        "read_supported_clocks",
                                                                        "read_processes",
                                                                        "read_counters",
                                                                        "set_power_limit",
                                                                        "lock_sm_clock",
                                                                        "reset_sm_clock",
                                                                        "lock_memory_clock",
                                                                        "reset_memory_clock",
                                                                        "set_application_clocks",
                                                                        "reset_application_clocks"};

[[nodiscard]] constexpr std::string_view name_of(CallId call) {
  return kCallNames[static_cast<std::size_t>(call)];
}
[[nodiscard]] constexpr bool writes(CallId call) {
  return call >= CallId::set_power_limit;
}

}  // namespace rubato::device::sim
