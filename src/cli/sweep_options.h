// What a person asks of `rubato sweep`, as typed and as understood.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/run.h"
#include "experiment/sweep_grid.h"
#include "experiment/sweep_schedule.h"
#include "experiment/sweep_state.h"

namespace rubato::cli {

struct SweepOptions {
  std::vector<std::string> knobs;
  unsigned repeats = 1;
  unsigned control_every = 4;
  unsigned warmup = 3;
  std::string order = "random";
  std::string max_slowdown;
  bool stop_early = false;
  bool within = false;
  std::int64_t iterations = 20;  // at each setting, --within
  std::string output;
  bool force = false;
  bool dry_run = false;
  std::string workload;
  std::string group;
  RunOptions run;  // seed too
};

struct SweepPlan {
  std::vector<experiment::KnobValues> knobs;
  std::vector<predict::KnobPoint> grid;
  experiment::ScheduleOptions schedule;
  std::optional<double> max_slowdown;
  unsigned warmup = 0;  // runs at most
  std::string command;  // as one would type it
  std::string workload;
  std::string group;
  std::filesystem::path output;
  std::filesystem::path state;  // beside it

  [[nodiscard]] bool sweeps(Knob knob) const;
};

/// invalid_argument for what cannot be meant. No GPU and no file is touched.
[[nodiscard]] Result<SweepPlan> plan_sweep(const SweepOptions& options,
                                           const std::vector<std::string>& command);

/// What must be the same for a sweep to go on; `gpus`: the UUIDs of real ones, as simulated ones come and go;
/// `found`: at which setting, as in SweepFacts.
[[nodiscard]] experiment::SweepIdentity identity_of(const SweepPlan& plan, const SweepOptions& options,
                                                    const std::string& gpus,
                                                    std::map<std::string, std::string> found);

/// conflict: a table stands there that this sweep has not begun.
[[nodiscard]] Status check_output(const SweepPlan& plan, bool force);

}  // namespace rubato::cli
