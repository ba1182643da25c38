// --pid of `run` and `measure`: a job that runs already in the place of a command.
#pragma once

#include <sys/types.h>

#include "base/result.h"
#include "cli/run.h"
#include "cli/wrap.h"

namespace rubato::cli {

/// The job is the plan's, and its command and folder those of the record. Errors as of running_job().
[[nodiscard]] Status attach(WrapPlan& plan, pid_t pid);

/// What cannot be asked of a job that has started: its environment is made, and nobody can reach inside.
[[nodiscard]] Status fits_running_job(const RunOptions& options, bool with_command);

}  // namespace rubato::cli
