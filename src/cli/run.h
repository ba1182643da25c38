// What `rubato run` does between its options and its exit status, for whoever else wraps a job at a setting.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "cli/agents.h"
#include "cli/governing.h"
#include "cli/gpus.h"
#include "cli/invocation.h"
#include "cli/job_options.h"
#include "cli/wanted.h"
#include "govern/strategy.h"

namespace rubato::cli {

struct RunOptions {
  int pid = 0;  // of a job that runs already, in the place of a command; 0: none
  WantedText wanted;
  GoverningText governing;
  std::optional<std::string> plan_file;
  bool dry_run = false;
  bool accept_unrestored = false;
  bool allow_shared = false;
  bool sudo = false;
  bool as_root = false;
  std::uint64_t seed = 1;
  AgentsText agents;
  std::optional<std::string> report_file;
  JobOptions job;
};

/// For a command that needs its setting, or nothing: what would make `run` measure only refuses it (125)
/// before the job starts, and the record is the caller's in the place of a report.
struct Experiment {
  /// Changes settings; null: the job runs as the GPUs were found, and no guard is started.
  std::unique_ptr<govern::Strategy> strategy;
  std::function<int(const Result<std::filesystem::path>&)> conclude;
};

/// Before any thread and any driver call of this process. Returns the status rubato is to exit with; where
/// the job died of a signal, this process dies of the same one.
int run_job(Invocation& invocation, const RunOptions& options, std::optional<Experiment> experiment = {});

/// Which right is missing; of the driver's rights this machine says more than the driver does.
[[nodiscard]] std::optional<Error> missing_right_of(const Wanted& wanted, const OpenGpus& open);

}  // namespace rubato::cli
