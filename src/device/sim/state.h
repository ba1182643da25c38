// The state of a simulated world as it lies in memory and in the world's file: plain data, no pointers.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "device/sim/scenario.h"
#include "device/sim/world.h"

namespace rubato::device::sim {

inline constexpr std::uint64_t kWorldMagic = 0x31444c524f574252ULL;  // "RBWORLD1"
inline constexpr std::uint32_t kWorldVersion = 2;

struct FaultState {
  std::uint64_t matched;  // atomic: calls seen so far, by every process
  std::uint64_t after;
  std::uint64_t count;
  double to_w;
  double jump_j;
  double low_mhz;
  double high_mhz;
  double wall_s;
  double from_s;  // since the world began
  double span_s;
  std::int32_t call;  // -1: every call
  std::int32_t gpu;   // -1: every GPU
  Effect effect;
  ErrorCode error;
  std::uint32_t has_to;
  std::uint32_t has_clock;
  char role[32];
};

struct WorldHeader {
  std::uint32_t gpu_count;
  std::int64_t origin_ns;
  double rate;
  std::uint64_t seed;
  Rights rights;
  std::uint32_t outlives_job;
  std::uint32_t energy_counter;
  std::uint32_t fault_count;
  double temperature_c;
  double ambient_c;
  double found_limit_w;
  double found_sm_mhz[2];
  double found_memory_mhz[2];
  double found_application_mhz[2];  // memory, SM
  std::uint32_t has_temperature;
  std::uint32_t has_ambient;
  std::uint32_t has_found_limit;
  std::uint32_t has_found_sm;
  std::uint32_t has_found_memory;
  std::uint32_t has_found_application;
  char boot_id[40];
  char profiles[kMostWorldGpus][40];
  FaultState faults[kMostFaults];
};

// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): lies in shared memory, where it begins as zeros
struct ContextState {
  std::uint64_t id;  // 0: free
  std::int64_t pid;
  std::uint64_t memory_bytes;
  std::uint64_t submitted;
  std::uint64_t completed;
  std::uint32_t segment_count;
  std::uint32_t segment;  // of the iteration that runs now
  double done;            // fraction of that segment
  double scale[kMostQueued];
  std::int64_t completed_ns[kMostQueued];
  Segment segments[kMostSegments];

  [[nodiscard]] bool runnable() const { return id != 0 && submitted > completed; }
};

/// What was asked of the clocks. Indices into the profile's tables.
struct ClockRequest {
  std::uint32_t has_sm_lock;
  std::uint32_t sm_low;
  std::uint32_t sm_high;
  std::uint32_t has_memory_lock;
  std::uint32_t memory_low;
  std::uint32_t memory_high;
  std::uint32_t has_application;
  std::uint32_t application_sm;
  std::uint32_t application_memory;
};

struct FieldState {
  std::int64_t edge_ns;  // end of the running period
  double window_j;       // true energy inside the window so far
  double means_w[kMostAverage];
  std::uint32_t next;
  std::uint32_t filled;
  double shown_w;
  std::int64_t updated_ns;
};

struct SensorState {
  double gain;
  double offset_w;
  FieldState instant;
  FieldState average;
  FieldState memory;            // of the memory alone, in step with `instant`
  double counter_j;             // sensed, exact, since the driver was loaded
  double counter_shown_j;       // as of the counter's last step
  double module_shown_j;        // the same of the whole module
  std::int64_t loaded_ns;       // when the counters last began at 0
  std::int64_t stale_until_ns;  // until then everything shown stands still
  std::int64_t counter_edge_ns;
  std::int64_t utilisation_edge_ns;
  double sm_busy_s;  // inside the running utilisation window
  double memory_busy_s;
  double sm_utilisation;
  double memory_utilisation;
};

// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): start_gpu() fills it
struct GpuState {
  std::int64_t now_ns;
  std::int64_t tick_end_ns;
  std::int64_t last_busy_ns;
  std::int64_t request_due_ns;  // when `asked` comes in force; 0: it is
  ClockRequest asked;
  ClockRequest in_force;
  std::uint32_t sm_index;
  std::uint32_t memory_index;
  std::uint32_t ceiling;          // highest SM clock the power limiter allows now
  std::uint32_t thermal_ceiling;  // the same for heat
  std::uint32_t hw_hot;           // the board halves its clock by itself
  std::uint32_t lost;             // fell off the bus: no call answers any more
  std::uint32_t ticks_to_decision;
  std::int64_t brake_until_ns;  // somebody outside asks for half the clock
  double ambient_c;
  double requested_limit_w;
  double limiter_average_w;
  double temperature_c;
  double tick_j;  // true energy in the running tick
  double energy_j;
  double sm_active_s;
  double dram_active_s;
  double power_violation_s;
  double thermal_violation_s;
  double hw_thermal_violation_s;
  double power_brake_violation_s;
  std::uint64_t seed;
  std::uint64_t requests;  // for clocks, since the world began
  std::uint64_t writes;
  std::uint64_t driver_generation;
  std::uint64_t last_context;
  SensorState sensor;
  ContextState contexts[kMostContexts];
};

static_assert(std::is_trivially_copyable_v<GpuState> && std::is_trivially_copyable_v<WorldHeader>);

}  // namespace rubato::device::sim
