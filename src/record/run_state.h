// What a run that goes on says of itself, for whoever watches (`rubato top`): one small JSON file in the
// run's folder for marks, replaced whole about once a second (docs/formats.md#run-state). The folder's lock
// says whether rubato lives, so nothing here outlives a killed run.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/units.h"
#include "core/iteration_estimate.h"
#include "core/kind.h"
#include "core/setting.h"

namespace rubato::record {

/// A run's folder in the runtime folder is named so, then its id; conduct/mark_folder.h makes and locks it.
inline constexpr std::string_view kRunFolderPrefix = "marks-";

struct RunStateGpu {
  std::string uuid;
  std::string name;
  Kind kind = Kind::measured;
  std::optional<bool> used_by_job;  // absent: could not be told yet
  std::optional<Watts> power;
  std::optional<Joules> energy;  // since the run began
  std::optional<Joules> energy_band_sampling;
  std::optional<Joules> energy_band_calibration;
  Setting in_force;                      // rubato's; empty: as it was found
  std::optional<Watts> found_limit;      // the requested one
  bool changed_by_someone_else = false;  // and left to them
};

/// A fraction of what the run so far would have taken at the found setting, and half of its 90 % interval.
struct RunStateShare {
  double value = 0;
  double half_width = 0;
};

struct RunStateSaving {
  RunStateShare saved;   // energy
  RunStateShare slower;  // time
  Kind kind = Kind::measured;
};

struct RunState {
  std::string run_id;
  std::string mode;  // "run" or "measure"
  std::vector<std::string> command;
  std::string started_at;        // ISO 8601 with zone
  std::string gpu_list;          // as typed after --gpu; empty: nothing was
  pid_t pid = 0;                 // of rubato
  std::optional<pid_t> job_pid;  // absent: no command
  std::int64_t written_ns = 0;   // CLOCK_MONOTONIC
  double clock_rate = 1;         // >1: a simulated world that runs faster than the wall
  Seconds running;               // on the run's clock, as every time below
  std::string strategy;
  std::string doing;  // a block role, or "measure_only"; empty: nothing was decided yet
  Setting setting;    // that `doing` is about; empty: the found one
  std::string why;    // one sentence
  std::int64_t iterations = 0;
  std::optional<IterationEstimate> iteration;  // its `at` and `why` are not kept
  std::optional<RunStateSaving> saving;        // absent: not known yet
  std::vector<RunStateGpu> gpus;
};

[[nodiscard]] std::string write_run_state(const RunState& state);
/// corrupt: not such a text, or a figure that cannot be.
[[nodiscard]] Result<RunState> parse_run_state(std::string_view text);

/// Replaces the file in the run's folder at once; 0600.
[[nodiscard]] Status save_run_state(const std::filesystem::path& run_folder, const RunState& state);

/// Of the runs below `runtime_folder` whose rubato lives, by their ids. A run that has said nothing yet, or
/// whose file is damaged, is left out.
[[nodiscard]] std::vector<RunState> living_run_states(const std::filesystem::path& runtime_folder);

}  // namespace rubato::record
