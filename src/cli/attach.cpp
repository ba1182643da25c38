#include "cli/attach.h"

#include <string>
#include <utility>

#include "base/text.h"
#include "cli/running_job.h"

namespace rubato::cli {
namespace {

Error not_with_pid(const std::string& what, const std::string& why) {
  return {ErrorCode::invalid_argument, cat("--pid is a job that runs already: ", what), why};
}

}  // namespace

Status attach(WrapPlan& plan, pid_t pid) {
  auto job = running_job(pid);
  if (!job) return fail(job.error());
  plan.attached = describe(*job);
  plan.pid = pid;
  plan.info.command = std::move(job->command);
  plan.info.working_directory = std::move(job->working_directory);
  return {};
}

Status fits_running_job(const RunOptions& options, bool with_command) {
  if (with_command)
    return fail(not_with_pid("no command stands beside it", "one of the two: --pid N, or -- COMMAND"));
  if (options.plan_file)
    return fail(not_with_pid("its layers cannot be followed, so no --plan runs there",
                             "start it anew: rubato run --plan FILE -- COMMAND"));
  if (options.job.kernels)
    return fail(not_with_pid("its kernels cannot be recorded",
                             "start it anew: rubato run --kernels CYCLE -- COMMAND"));
  if (options.agents.agents != AgentsText{}.agents)
    return fail(not_with_pid("its ranks on other nodes cannot be agreed with",
                             "one `rubato run --agents` for each rank, around the command"));
  return {};
}

}  // namespace rubato::cli
