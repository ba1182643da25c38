// What `run` and `measure` share: a session beside a job, its record, its report, and the job's own exit
// status.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "agent/bootstrap.h"
#include "base/units.h"
#include "cli/gpus.h"
#include "cli/hooks.h"
#include "cli/invocation.h"
#include "cli/rank_group.h"
#include "cli/wanted.h"
#include "conduct/job_agent.h"
#include "conduct/lease_holder.h"
#include "core/objective.h"
#include "govern/strategy.h"
#include "plan/layers/layer_plan.h"
#include "record/types.h"
#include "wire/channel.h"

namespace rubato::cli {

struct WrapPlan {
  record::RunInfo info;  // describe_run()
  std::unique_ptr<govern::Strategy> strategy;
  Wanted wanted;
  std::unique_ptr<wire::Channel> guard;  // greeted already; null: nothing will be set
  conduct::Rescue rescue;
  std::optional<Goal> goal;            // of a strategy that chooses the setting itself
  std::optional<double> max_slowdown;  // promised to whoever grants the lease; a fraction
  bool allow_shared = false;
  std::vector<std::string> meters;  // as typed after --meter
  HookWishes hooks;
  std::string counters;            // a provider, or "auto"; empty: nobody counts
  std::optional<Seconds> seconds;  // without a command
  std::optional<pid_t> pid;        // without a command: a job that runs already
  std::string attached;            // that job, in words
  std::string report_file;         // empty: standard error
  /// In the place of the report: what to do with the record. Its status is rubato's where the job's is 0.
  std::function<int(const Result<std::filesystem::path>&)> conclude;
  std::optional<RankGroup> group;  // whose other ranks' processes belong to the job as well
  std::optional<std::string>
      leader;  // the run that measures instead: only the job is started, nothing recorded
  std::shared_ptr<conduct::JobAgent> agent{};  // null: nobody to agree with
  std::optional<agent::JobPlace> place{};      // of the agent
  std::string afterwards;                      // said at the end; empty: nothing
  std::optional<plan::LayerPlan> inside;       // clocks that are switched inside the iteration
  bool kernels_for_the_plan = false;  // nobody else asked for them: the record keeps the first ones only
  std::string intent;  // of a strategy that chooses the setting itself, for the record; empty: another
  std::function<void(const std::filesystem::path&)> after{};  // what else to do with a finished record
  /// What the job needs to reach these GPUs, where `open` can no longer be asked for it.
  std::vector<std::pair<std::string, std::string>> environment;
};

/// Returns the status rubato is to exit with; where the job died of a signal, rubato dies of the same one.
int wrap(Invocation& invocation, WrapPlan plan, OpenGpus open);

}  // namespace rubato::cli
