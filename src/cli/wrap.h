// What `run` and `measure` share: a session beside a job, its record, its report, and the job's own exit
// status.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>

#include "base/units.h"
#include "cli/gpus.h"
#include "cli/invocation.h"
#include "cli/wanted.h"
#include "conduct/lease_holder.h"
#include "govern/strategy.h"
#include "wire/channel.h"

namespace rubato::cli {

struct WrapPlan {
  std::string mode;  // "run" or "measure"
  std::unique_ptr<govern::Strategy> strategy;
  Wanted wanted;
  std::unique_ptr<wire::Channel> guard;  // greeted already; null: nothing will be set
  conduct::Rescue rescue;
  bool allow_shared = false;
  std::optional<Seconds> seconds;  // without a command
  std::optional<pid_t> pid;        // without a command
  std::string report_file;         // empty: standard error
};

/// Returns the status rubato is to exit with; where the job died of a signal, rubato dies of the same one.
int wrap(Invocation& invocation, WrapPlan plan, OpenGpus open);

/// GPUs for a wrapped run. Named ones that are not there are an error before the job starts; where none was
/// named and there is no driver, the job runs all the same and the report says that nothing was measured.
[[nodiscard]] Result<OpenGpus> open_gpus_for_job(const Invocation& invocation);

}  // namespace rubato::cli
