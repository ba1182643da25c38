#include "cli/wrap.h"

#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "base/log.h"
#include "base/text.h"
#include "cli/print_run.h"
#include "cli/run_files.h"
#include "conduct/job.h"
#include "conduct/live_driver.h"
#include "conduct/mark_reader.h"
#include "conduct/session.h"

namespace rubato::cli {
namespace {

[[noreturn]] void die_of(int signal) {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);  // the core that matters is the job's
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  sigaction(signal, &by_default, nullptr);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  sigprocmask(SIG_UNBLOCK, &only, nullptr);
  raise(signal);
  _exit(128 + signal);
}

std::vector<std::pair<std::string, std::string>> environment_for_job(const OpenGpus& open,
                                                                     const record::RunInfo& run,
                                                                     const MarkFolder* marks) {
  std::vector<std::pair<std::string, std::string>> environment;
  if (open.selection.backend) {
    std::vector<GpuId> ids;
    for (const auto& identity : open.selection.chosen) ids.push_back(identity.id);
    environment = open.selection.backend->job_environment(ids);
  }
  environment.emplace_back(conduct::kRunIdVariable, run.run_id);
  if (marks != nullptr) environment.emplace_back("RUBATO_MARKS", marks->path().string());
  return environment;
}

int leave(Invocation& invocation, const conduct::LiveOutcome& outcome) {
  if (!outcome.session_finished) {
    log::error(Error{ErrorCode::timeout, "a driver call has not come back; the guard restores without us",
                     "`rubato doctor` says whether anything is left to put back"});
    std::fflush(nullptr);
    if (outcome.job && outcome.job->state == conduct::JobStatus::State::exited) _exit(outcome.job->code);
  }
  if (outcome.job && outcome.job->state == conduct::JobStatus::State::killed) {
    std::fflush(nullptr);
    die_of(outcome.job->signal);
  }
  if (outcome.job) return invocation.status = outcome.job->code;
  if (outcome.interrupted && !invocation.command.empty()) {
    log::warning(
        "not waiting for the job any longer; it was left running, and the GPUs are as they were found");
    return invocation.status = 128 + SIGINT;
  }
  return invocation.status = 0;
}

}  // namespace

Result<OpenGpus> open_gpus_for_job(const Invocation& invocation) {
  auto open = open_gpus(invocation.gpu);
  if (open || !invocation.gpu.empty()) return open;
  log::warning(Error{open.error().code, cat(open.error().what, "; the command runs, but no GPU is measured"),
                     open.error().hint});
  return OpenGpus{};
}

int wrap(Invocation& invocation, WrapPlan plan, OpenGpus open) {
  std::shared_ptr<const Clock> clock = std::make_shared<RealClock>();
  if (open.selection.backend) clock = open.selection.backend->clock();

  record::RunInfo info = describe_run(plan.mode, invocation.command);
  info.clock_rate = 1.0 / clock->wall(Seconds(1.0)).value();
  std::optional<MarkFolder> marks;
  if (auto made = MarkFolder::create(info.run_id)) {
    marks.emplace(std::move(*made));
  } else {
    const Error& error = made.error();
    log::warning(Error{error.code, cat(error.what, "; iterations cannot be followed"), error.hint});
  }

  std::unique_ptr<wire::LeaseClient> lease;
  if (plan.guard) lease = std::make_unique<wire::LeaseClient>(std::move(plan.guard), clock);

  conduct::take_signals();
  std::optional<conduct::Job> job;
  info.begin = clock->now();
  if (!invocation.command.empty()) {
    auto started =
        conduct::Job::start(invocation.command, environment_for_job(open, info, marks ? &*marks : nullptr));
    if (!started) return refuse(invocation, started.error().error, started.error().exit_code);
    job = *started;
  }

  conduct::SessionParts parts;
  parts.strategy = std::move(plan.strategy);
  parts.gpus = std::move(open.gpus);
  if (lease) {
    parts.lease = std::make_unique<conduct::LeaseHolder>(lease.get(), plan.wanted.knobs,
                                                         plan.wanted.found_sm_clock, plan.rescue);
  }
  parts.writer = open_record(info);
  std::optional<conduct::MarkReader> reader;
  if (marks && job) {
    reader.emplace(marks->path());
    parts.marks = [&reader](TimePoint now) { return reader->poll(now); };
  }
  if (job) {
    conduct::OwnershipCheck check(FsRoot{}, job->pid(), info.run_id);
    parts.ownership = [check](const std::vector<ComputeProcess>& processes) {
      return check.judge(processes);
    };
  }
  parts.allow_shared = plan.allow_shared;
  parts.warn = [](const Error& error) { log::warning(error); };
  if (open.selection.backend) {
    parts.backend = std::string(open.selection.backend->name());
    parts.driver_version = open.selection.backend->driver_version();
  }
  conduct::Session session(std::move(parts), info.begin);

  conduct::Watched watched;
  if (job) watched.job = &*job;
  if (plan.seconds) watched.deadline = info.begin + *plan.seconds;
  watched.pid = plan.pid;
  const auto outcome = conduct::LiveDriver(clock, session, lease.get()).run(watched);
  if (session.restoration_failed()) {
    log::error(Error{ErrorCode::conflict,
                     "a GPU could not be put back as it was found; the report says which and why",
                     "rubato restore"});
  }
  if (outcome.session_finished) print_run(invocation, session.record_file(), plan.report_file);
  marks.reset();  // leave() may end this process by a signal
  return leave(invocation, outcome);
}

}  // namespace rubato::cli
