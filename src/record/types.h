// The rows of a run record, as plain data. The tables are documented in docs/formats.md#run-record.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "core/block_role.h"
#include "core/capability.h"
#include "core/feature_schema.h"
#include "core/gpu_id.h"
#include "core/iteration.h"
#include "core/iteration_estimate.h"
#include "core/kernel_record.h"
#include "core/kind.h"
#include "core/meter_reading.h"
#include "core/restoration.h"
#include "core/sample.h"
#include "core/setting.h"
#include "core/shift.h"
#include "core/window.h"

namespace rubato::record {

inline constexpr int kSchemaVersion = 7;

struct RunInfo {
  std::string run_id;  // "20261121-081500-123-1a2b": sortable, unique on a machine
  std::string mode;    // "run" or "measure"
  std::vector<std::string> command;
  std::string working_directory;
  std::string host;
  std::string rubato_version;
  std::string boot_id;
  std::string started_at;  // ISO 8601 with zone, for people; everything else is on the run's clock
  TimePoint begin;
  double clock_rate = 1.0;  // >1: a simulated world that runs faster than the wall
};

struct DeviceInfo {
  GpuIdentity identity;
  Kind kind = Kind::measured;
  std::string backend;
  std::string driver_version;
  SensorFacts sensor;
  std::optional<PowerLimits> found;
};

/// A channel of a meter, as one row. The position in which channels were given to the writer names them.
struct ChannelInfo {
  std::string meter;  // Meter::name(): "snmp:rack"
  MeterChannel channel;
};

/// What a channel did over the whole run.
struct ChannelEnd {
  std::size_t channel = 0;
  std::optional<EnergyWindow> energy;  // absent: nothing could be read
  std::optional<Seconds> lag;          // behind the GPUs' own power, where the two move together
  std::string lag_quality;             // in words: "correlation 0.93 over 212 s", or why there is none
};

/// Who changed it: "rubato", "guard" or "someone else".
struct SettingChange {
  TimePoint at;
  GpuId gpu;
  std::string who;
  Setting asked;      // what was wanted
  Setting requested;  // what the driver says was requested, read back
  std::optional<Watts> enforced;
  std::optional<Megahertz> reached_sm_clock;  // seen later, under load
  std::string outcome;                        // "applied", "refused: …", "restored", "left_alone: …"
};

/// Action of the first decision of a run beside a job that ran already; `why` names that job.
inline constexpr const char* kAttached = "attached";

struct Decision {
  TimePoint at;
  std::string action;  // "wait", "baseline", "hold", "control", "measure_only", …
  Setting setting;
  std::string why;  // a sentence
};

/// A stretch in which something that should have been recorded was not.
struct Gap {
  TimePoint begin;
  TimePoint end;
  std::optional<GpuId> gpu;
  std::string why;
  // Of a meter, by its first channel where all of it was silent. Neither this nor a GPU: all GPUs.
  std::optional<std::size_t> channel = std::nullopt;
};

/// A stretch of the run at one setting, with whole iterations where a progress source saw any.
struct Block {
  BlockRole role = BlockRole::hold;
  GpuId gpu;
  Setting setting;
  TimePoint begin;
  TimePoint end;
  std::int64_t iterations = 0;
  std::optional<EnergyWindow> energy;
};

/// Kernels were recorded between these moments, and nowhere else: tracing goes in duty cycles.
struct KernelCycle {
  TimePoint begin;
  TimePoint end;
  std::int32_t pid = 0;
  std::uint64_t lost = 0;
};

/// What one source said of the iteration from that moment on. Kept where it changed.
struct IterationStatement {
  std::optional<GpuId> gpu;  // absent: marks, which are the job's
  IterationEstimate estimate;
  bool used = false;  // iterations were counted by it from here on
  std::string check;  // what the other sources said to it
};

/// What stands in where no iteration was found.
struct RateStatement {
  std::optional<GpuId> gpu;
  ProgressRate rate;
};

struct ShiftNoticed {
  GpuId gpu;
  Shift shift;
};

/// Counters over one window, and why they were read then.
struct FeatureWindow {
  GpuId gpu;
  std::string provider;
  FeatureVector features;
  Setting setting;  // in force over the whole window
  std::string why;
};

/// Edge of the driver's energy counter, as read.
struct CounterEdge {
  TimePoint at;
  GpuId gpu;
  Joules counter;
  bool reset = false;  // lower than before: the driver was reloaded in between
};

struct DeviceEnd {
  GpuId gpu;
  std::optional<EnergyWindow> energy;  // GPU scope, of the whole run; absent: could not be read
  std::optional<Setting> found;
  std::optional<Setting> requested;  // the last setting rubato had in force
  Restoration restoration = Restoration::not_needed;
  std::string restoration_detail;
  std::optional<bool> used_by_job;         // held a compute context of the job's; absent: could not be told
  std::vector<EnergyWindow> other_scopes;  // module, memory: they overlap `energy` and are never added to it
};

struct OwnCost {
  CallCost driver;  // calls and time inside the driver's library
  Seconds cpu;      // of rubato's process, driver time included
  std::uint64_t bytes_written = 0;
  std::uint64_t ticks = 0;
};

struct RunEnd {
  TimePoint end;
  std::optional<int> exit_code;    // of the job
  std::optional<int> exit_signal;  // exactly one of the two, unless the job was left running
  std::vector<DeviceEnd> devices;
  std::vector<ChannelEnd> channels;
  OwnCost cost;
};

}  // namespace rubato::record
