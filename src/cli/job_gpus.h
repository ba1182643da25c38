// The GPUs of a job that is wrapped: opened, told to it, or looked up where it runs already.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/gpus.h"
#include "cli/invocation.h"

namespace rubato::cli {

/// Wrong in what was typed, so found before the job starts and refused. Anything else may happen to the same
/// command tomorrow, and must not keep the job from running.
[[nodiscard]] bool is_in_the_command(const Error& error);

/// GPUs for a wrapped run. Named ones that are not there are an error before the job starts; what fails
/// otherwise costs the measurement, and the job runs all the same.
[[nodiscard]] Result<OpenGpus> open_gpus_for_job(const Invocation& invocation);

/// Of Backend::job_environment(), for all GPUs chosen.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> environment_of(const OpenGpus& open);

/// Leaves those on which the job or a process that descends from it computes; all of them where somebody
/// `named` them, and with a warning where it computes on none yet. Nothing is left where the driver stands
/// still: leave by conduct::leave_now().
void keep_used_by(OpenGpus& open, pid_t job, bool named);

}  // namespace rubato::cli
