// Reads run records of this and older schema versions, whole or cut short by a crash.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "record/expected.h"
#include "record/types.h"

namespace rubato::record {

struct RunSummary {
  std::string run_id;
  std::string mode;
  std::vector<std::string> command;
  std::string started_at;
  std::optional<Seconds> duration;  // absent: the run did not end properly
  std::optional<int> exit_code;
  std::optional<int> exit_signal;
  std::filesystem::path file;
};

struct DeviceRecord {
  DeviceInfo info;
  std::vector<FastReading> fast;
  std::vector<SlowReading> slow;
  std::vector<CounterEdge> counter_edges;
  std::vector<Source> sources;
};

struct Bystander {
  GpuIdentity identity;
  Kind kind = Kind::measured;
  std::optional<EnergyWindow> energy;  // of the whole run
};

struct ChannelRecord {
  ChannelInfo info;
  std::vector<FastReading> readings;
};

struct RunRecord {
  RunInfo info;
  std::optional<RunEnd> end;  // absent: killed, the last second missing, or no longer written
  std::vector<DeviceRecord> devices;
  /// Measured as well, but the job never computed on them: their energy is not the job's. Nothing else here
  /// tells of them.
  std::vector<Bystander> bystanders;
  std::vector<ChannelRecord> channels;
  std::vector<Mark> marks;                     // in order of time, without the names
  std::map<std::uint64_t, std::string> names;  // of marks' ids and of kernels, by hash
  std::vector<KernelRecord> kernels;
  std::vector<KernelCycle> kernel_cycles;
  std::vector<Iteration> iterations;
  std::vector<IterationStatement> statements;  // these four in order of time
  std::vector<RateStatement> rates;
  std::vector<ShiftNoticed> shifts;
  std::vector<FeatureWindow> features;
  std::vector<Block> blocks;
  std::vector<SettingChange> setting_changes;
  std::vector<Decision> decisions;
  std::optional<GoalInForce> goal;          // absent: no strategy chose a setting, or rubato was older
  std::vector<ExpectationAt> expectations;  // in order of time
  std::vector<Gap> gaps;
  std::filesystem::path file;
};

/// Whether somebody else set a GPU while the run went on.
[[nodiscard]] bool someone_else_set(const RunRecord& run);

/// The job had been started by somebody else: how it ended is not seen.
[[nodiscard]] bool attached(const RunRecord& run);

/// Newest last. Reads the index, and rebuilds it from the records where it is missing, stale or corrupt.
/// Records that cannot be read are left out, and named in `unreadable` where it is given.
[[nodiscard]] Result<std::vector<RunSummary>> list_runs(
    const std::filesystem::path& directory, std::vector<std::filesystem::path>* unreadable = nullptr);
/// `name`: a run id, a unique beginning of one, "last", or a path to a record. not_found names what there is.
[[nodiscard]] Result<std::filesystem::path> find_run(const std::filesystem::path& directory,
                                                     std::string_view name);
/// Errors: corrupt (with the file's name, which is left as it is); not_supported for a newer schema version.
[[nodiscard]] Result<RunRecord> read_run(const std::filesystem::path& file);

}  // namespace rubato::record
