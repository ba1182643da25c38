#include "cli/attach.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cli/running_job.h"
#include "conduct/ownership.h"
#include "conduct/patience.h"

namespace rubato::cli {
namespace {

constexpr const char* kAuto = "auto";  // of --agents, where nothing is said

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
  if (options.agents.agents != kAuto)
    return fail(not_with_pid("its ranks on other nodes cannot be agreed with",
                             "one `rubato run --agents` for each rank, around the command"));
  return {};
}

void keep_used_by(OpenGpus& open, pid_t job) {
  const auto gpus = std::make_shared<OpenGpus>(std::move(open));
  const auto used = conduct::patiently<std::vector<std::string>>([gpus, job] {
    const conduct::OwnershipCheck check(FsRoot{}, job, {});
    std::vector<std::string> out;
    for (const auto& gpu : gpus->gpus)
      if (const auto processes = gpu->compute_processes(); processes && check.judge(*processes).job_here)
        out.push_back(gpu->identity().id.uuid);
    return out;
  });
  open = used ? std::move(*gpus) : OpenGpus{.driver_stuck = true};
  if (used && !used->empty()) keep_only(open, *used);
}

}  // namespace rubato::cli
