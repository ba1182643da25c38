// The two faces of a GPU. Reading is for everybody; writing is for the guard alone (checked by
// tools/check_layers).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "core/capability.h"
#include "core/feature_schema.h"
#include "core/gpu_id.h"
#include "core/kind.h"
#include "core/sample.h"
#include "core/setting.h"

namespace rubato::device {

/// The SM clocks that are legal at one memory clock, ascending.
struct LegalClocks {
  Megahertz memory;
  std::vector<Megahertz> sm;
};

/// Every clock the GPU says it has, in MHz, ascending.
struct ClockTable {
  std::vector<Megahertz> sm;  // over all memory clocks
  std::vector<Megahertz> memory;
  std::vector<LegalClocks> pairs;  // one for each of `memory`, in its order
};

/// Reads one GPU. Not thread-safe: one owner thread. No call changes the GPU.
class Gpu {
 public:
  virtual ~Gpu() = default;

  [[nodiscard]] virtual const GpuIdentity& identity() const = 0;
  /// Probed once when opened, without any setting call.
  [[nodiscard]] virtual const Capabilities& capabilities() const = 0;
  [[nodiscard]] virtual const SensorFacts& sensor() const = 0;
  /// measured on hardware, modelled on the simulated GPU, replayed on a table.
  [[nodiscard]] virtual Kind kind() const = 0;

  /// Power and energy counter in one driver call. An absent field was not readable this time;
  /// an error means the GPU did not answer at all (device_lost, timeout).
  [[nodiscard]] virtual Result<FastReading> read_fast() = 0;
  /// Clocks, utilisation, temperature, limiter, limits: several driver calls.
  [[nodiscard]] virtual Result<SlowReading> read_slow() = 0;
  /// As quickly as the driver allows: what a change of clocks is followed with.
  [[nodiscard]] virtual Result<ClockReading> read_clocks();
  [[nodiscard]] virtual Result<PowerLimits> power_limits() = 0;
  [[nodiscard]] virtual Result<ClockTable> supported_clocks() = 0;
  /// not_supported where the GPU or the driver has none (deprecated; gone from newer drivers).
  [[nodiscard]] virtual Result<ApplicationClockReading> application_clocks();
  /// Processes that hold a compute context (display clients do not count).
  [[nodiscard]] virtual Result<std::vector<ComputeProcess>> compute_processes() = 0;
  /// Means of the GPU's counters since the call before. The first call only begins: it has no values. Neither
  /// has one that comes before the counters were refreshed. Errors: not_supported where the GPU or driver has
  /// none; no_permission.
  [[nodiscard]] virtual Result<FeatureVector> read_counters();
  /// Driver calls made through this object so far, and the time spent inside them.
  [[nodiscard]] virtual CallCost cost() const = 0;
};

/// Writes one GPU. A success here is not proof: limits are read back, clocks are checked under load.
/// A refused write leaves the GPU unchanged.
class GpuControl {
 public:
  virtual ~GpuControl() = default;

  /// invalid_argument (naming the range) outside [min, max].
  [[nodiscard]] virtual Status set_power_limit(Watts limit) = 0;
  [[nodiscard]] virtual Status lock_sm_clock(ClockRange range) = 0;
  [[nodiscard]] virtual Status reset_sm_clock() = 0;
  [[nodiscard]] virtual Status lock_memory_clock(ClockRange range) = 0;
  [[nodiscard]] virtual Status reset_memory_clock() = 0;
  [[nodiscard]] virtual Status set_application_clocks(ApplicationClocks clocks) = 0;
  [[nodiscard]] virtual Status reset_application_clocks() = 0;
};

/// One driver: what it found and how to open it. Holds the driver open for its whole life.
class Backend {
 public:
  virtual ~Backend() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;       // "nvml"
  [[nodiscard]] virtual std::string driver_version() const = 0;  // part of the journal's header
  [[nodiscard]] virtual const std::vector<GpuIdentity>& gpus() const = 0;
  [[nodiscard]] virtual Result<std::unique_ptr<Gpu>> open(const GpuId& id) = 0;
  [[nodiscard]] virtual Result<std::unique_ptr<GpuControl>> open_control(const GpuId& id) = 0;
  /// The clock this backend's GPUs live on: real, or scaled where the world is simulated.
  [[nodiscard]] virtual std::shared_ptr<const Clock> clock() const = 0;
  /// True where these GPUs are simulated: their journals stay in the user's own runtime folder.
  [[nodiscard]] virtual bool simulated() const = 0;
  /// Whether something outlives the job here; absent: find out from the machine (guard/survival.h).
  [[nodiscard]] virtual std::optional<bool> outlives_job() const { return std::nullopt; }
  /// Environment a job needs to reach these GPUs (the simulated world's path); empty on hardware.
  [[nodiscard]] virtual std::vector<std::pair<std::string, std::string>> job_environment(
      const std::vector<GpuId>&) const {
    return {};
  }
};

}  // namespace rubato::device
