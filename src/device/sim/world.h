// One simulated world: some GPUs, their work and their driver. Kept in private memory (one process, virtual
// time) or in a file that every process maps. The `sim:` backend and the NVML stand-in are thin views of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "core/gpu_id.h"
#include "core/sample.h"
#include "core/setting.h"
#include "device/sim/call.h"
#include "device/sim/profile.h"
#include "device/sim/scenario.h"
#include "device/sim/work.h"

namespace rubato::device::sim {

inline constexpr std::size_t kMostWorldGpus = 16;

/// Everything the driver would tell about one GPU at one moment.
struct Readout {
  TimePoint at;  // the state's own time: `now`, or later where another process was ahead
  Watts power_instant;
  Watts power_average;  // what nvmlDeviceGetPowerUsage gives
  TimePoint power_updated;
  std::optional<Joules> energy_counter;  // absent where the scenario or the model has none
  std::optional<Watts> module_power;     // superchips only
  std::optional<Joules> module_energy_counter;
  std::optional<Watts> memory_power;  // where the model has a sensor for it
  Megahertz sm_clock;
  Megahertz memory_clock;
  double sm_utilisation = 0.0;  // fraction of the last utilisation window
  double memory_utilisation = 0.0;
  Celsius temperature;
  LimiterReasons limiter;
  Seconds power_violation;       // since the driver was loaded, held below the asked clock by the power limit
  Seconds thermal_violation;     // software slowdown by heat
  Seconds hw_thermal_violation;  // hardware slowdown by heat
  Seconds power_brake_violation;
  PowerLimits limits;
  std::optional<ApplicationClocks> application_clocks;  // what was set; absent: the default
  ApplicationClocks default_application_clocks;
  std::uint64_t memory_used_bytes = 0;
  unsigned performance_state = 0;  // 0 busy, 8 idle
};

/// Integrals since the world began; the difference of two gives mean activity between them.
struct CounterTotals {
  TimePoint at;
  Seconds sm_active;
  Seconds dram_active;
};

/// What really is, faults, sensor and driver aside: for tests and for the lab's oracle.
struct Truth {
  TimePoint at;
  Joules energy;  // since the world began
  Watts power;    // now
  Megahertz sm_clock;
  Megahertz memory_clock;
  Celsius temperature;
  Watts requested_limit;
  std::optional<ClockRange> sm_lock;
  std::optional<ClockRange> memory_lock;
  std::optional<ApplicationClocks> application_clocks;
  double sensor_gain = 1.0;  // of this board
  Watts sensor_offset;
  std::uint64_t writes = 0;             // settings changed since the world began
  std::uint64_t driver_generation = 0;  // driver reloads
};

struct ContextId {
  std::uint64_t value = 0;
};

struct Progress {
  std::uint64_t submitted = 0;
  std::uint64_t completed = 0;
  double fraction = 0.0;  // of the iteration that runs now
  std::optional<TimePoint> last_completion;
};

class Storage;

/// Thread-safe. Every call first moves the GPU's state to `now`; a `now` in its past changes nothing.
/// File worlds: timeout where a stopped process holds the world's lock.
class SimWorld {
 public:
  /// Profiles by name or alias. Rights default to owner.
  [[nodiscard]] static Result<std::unique_ptr<SimWorld>> create_private(std::span<const std::string> profiles,
                                                                        const Scenario& scenario = {},
                                                                        TimePoint start = {});
  /// not_found where there is no such file; conflict where it is of another version.
  [[nodiscard]] static Result<std::unique_ptr<SimWorld>> open(const std::filesystem::path& path);
  /// Uses what is there (conflict where it holds other profiles), else makes it. A world of an earlier boot
  /// is remade.
  [[nodiscard]] static Result<std::unique_ptr<SimWorld>> open_or_create(
      const std::filesystem::path& path, std::span<const std::string> profiles, const Scenario& scenario,
      Rights default_rights = Rights::owner);
  ~SimWorld();
  SimWorld(const SimWorld&) = delete;
  SimWorld& operator=(const SimWorld&) = delete;

  // ---- what does not change ----
  [[nodiscard]] unsigned gpu_count() const;
  [[nodiscard]] const GpuIdentity& identity(unsigned gpu) const;
  [[nodiscard]] const Profile& profile(unsigned gpu) const;
  [[nodiscard]] const Scenario& scenario() const;
  [[nodiscard]] std::string driver_version() const;
  [[nodiscard]] Rights rights() const;
  [[nodiscard]] const std::filesystem::path& path() const;  // empty: private memory
  /// Scaled for a file; for private memory a clock that stands at the latest `now` any call gave.
  [[nodiscard]] std::shared_ptr<const Clock> clock() const;
  [[nodiscard]] std::optional<unsigned> find(std::string_view uuid) const;
  /// empty: this process may set; else why not, in one clause.
  [[nodiscard]] std::string why_may_not_set() const;

  // ---- the driver: rights and faults apply ----
  /// Counts the call and lets the scenario's faults act on it. The calls below do it themselves; only a call
  /// that reads no state (open, the supported clocks) is announced by the view.
  [[nodiscard]] Status begin_call(CallId call, unsigned gpu, TimePoint now);
  /// One driver call of the given name; the view picks the members that call tells.
  [[nodiscard]] Result<Readout> read(CallId call, unsigned gpu, TimePoint now);
  [[nodiscard]] Result<CounterTotals> read_counters(unsigned gpu, TimePoint now);
  /// Dead processes are dropped first (file worlds).
  [[nodiscard]] Result<std::vector<ComputeProcess>> read_processes(unsigned gpu, TimePoint now);
  [[nodiscard]] Status set_power_limit(unsigned gpu, Watts limit, TimePoint now);
  /// Both ends must stand in the table; the error names the nearest.
  [[nodiscard]] Status lock_sm_clock(unsigned gpu, ClockRange range, TimePoint now);
  [[nodiscard]] Status reset_sm_clock(unsigned gpu, TimePoint now);
  [[nodiscard]] Status lock_memory_clock(unsigned gpu, ClockRange range, TimePoint now);
  [[nodiscard]] Status reset_memory_clock(unsigned gpu, TimePoint now);
  [[nodiscard]] Status set_application_clocks(unsigned gpu, ApplicationClocks clocks, TimePoint now);
  [[nodiscard]] Status reset_application_clocks(unsigned gpu, TimePoint now);

  // ---- work: what a training program does ----
  [[nodiscard]] Result<ContextId> add_context(unsigned gpu, std::int64_t pid, std::uint64_t memory_bytes,
                                              std::span<const Segment> iteration, TimePoint now);
  /// One more iteration, `scale` times as long as the program says. busy where kMostQueued wait already.
  [[nodiscard]] Status submit(unsigned gpu, ContextId context, double scale, TimePoint now);
  [[nodiscard]] Result<Progress> progress(unsigned gpu, ContextId context, TimePoint now);
  /// When iteration number `index` (from 0) completed or, if nothing changes, will. not_found: never
  /// submitted, or completed more than kMostQueued iterations ago.
  [[nodiscard]] Result<TimePoint> completion(unsigned gpu, ContextId context, std::uint64_t index,
                                             TimePoint now);
  [[nodiscard]] Status remove_context(unsigned gpu, ContextId context, TimePoint now);

  // ---- tests and the lab ----
  [[nodiscard]] Result<Truth> truth(unsigned gpu, TimePoint now);
  /// Limits to their default, locks gone, energy counter 0, a new driver generation.
  [[nodiscard]] Status driver_reload(TimePoint now);
  /// Somebody else sets the limit: no rights, no faults.
  [[nodiscard]] Status set_external_limit(unsigned gpu, Watts limit, TimePoint now);

 private:
  explicit SimWorld(std::unique_ptr<Storage> storage);
  static Result<std::unique_ptr<SimWorld>> adopt(std::unique_ptr<Storage> storage);
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// $RUBATO_SIM_WORLD, or nothing.
[[nodiscard]] std::optional<std::filesystem::path> world_path_from_environment();
/// <runtime folder>/sim/<profile-list>.world, names in full: "v100-pcie-16gb,v100-pcie-16gb".
[[nodiscard]] Result<std::filesystem::path> default_world_path(std::span<const std::string> profiles);
/// $RUBATO_SIM_WORLD as it is, made with `profiles` where the file is missing; without the variable the
/// default path. `profiles` may be empty where the variable names a world that is there. Scenario:
/// RUBATO_SIM_SCENARIO.
[[nodiscard]] Result<std::unique_ptr<SimWorld>> open_world_from_environment(
    std::span<const std::string> profiles, Rights default_rights);
/// Removes the world's file. not_found where there is none.
[[nodiscard]] Status reset_world(const std::filesystem::path& path);

}  // namespace rubato::device::sim
