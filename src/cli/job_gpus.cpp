#include "cli/job_gpus.h"

#include <memory>

#include "base/log.h"
#include "base/text.h"
#include "conduct/ownership.h"
#include "conduct/patience.h"

namespace rubato::cli {

bool is_in_the_command(const Error& error) {
  return error.code == ErrorCode::invalid_argument || error.code == ErrorCode::not_found ||
         error.code == ErrorCode::not_supported || error.code == ErrorCode::unavailable;
}

Result<OpenGpus> open_gpus_for_job(const Invocation& invocation) {
  const std::string measured_not =
      invocation.command.empty() ? "; no GPU is measured" : "; the command runs, but no GPU is measured";
  auto answer = conduct::patiently<Result<OpenGpus>>([list = invocation.gpu] { return open_gpus(list); });
  if (!answer) {
    const Error stuck = conduct::stands_still();
    log::warning(Error{stuck.code, cat(stuck.what, measured_not), stuck.hint});
    return OpenGpus{.driver_stuck = true};
  }
  Result<OpenGpus>& open = *answer;
  if (open) {
    for (const auto& error : open->lost)
      log::warning(Error{error.code, cat(error.what, "; this GPU is not measured"), error.hint});
    const std::string hidden =
        invocation.command.empty() ? std::string() : hidden_from_job(open->selection, invocation.gpu);
    if (!hidden.empty())
      log::warning(Error{ErrorCode::conflict, hidden, "without --gpu rubato takes those that the job sees"});
    return std::move(open);
  }
  if (!invocation.gpu.empty() && is_in_the_command(open.error())) return std::move(open);
  // Who named a GPU can do something about it; who did not may have none.
  const std::string hint = invocation.gpu.empty() ? std::string() : open.error().hint;
  log::warning(Error{open.error().code, cat(open.error().what, measured_not), hint});
  return OpenGpus{};
}

std::vector<std::pair<std::string, std::string>> environment_of(const OpenGpus& open) {
  if (!open.selection.backend) return {};
  std::vector<GpuId> ids;
  for (const auto& identity : open.selection.chosen) ids.push_back(identity.id);
  return open.selection.backend->job_environment(ids);
}

void keep_used_by(OpenGpus& open, pid_t job, bool named) {
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
  if (!used || open.gpus.empty()) return;
  if (used->empty())
    log::warning(
        Error{ErrorCode::unavailable,
              cat("process ", job, " computes on no GPU here so far, nor does what descends from it"),
              "is it the right one? nvidia-smi lists the processes that compute"});
  else if (!named)
    keep_only(open, *used);
}

}  // namespace rubato::cli
