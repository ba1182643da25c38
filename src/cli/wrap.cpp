#include "cli/wrap.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <functional>
#include <future>
#include <thread>

#include "base/log.h"
#include "base/text.h"
#include "cli/forecast_child.h"
#include "cli/guarding.h"
#include "cli/job_gpus.h"
#include "cli/job_report.h"
#include "cli/live_line.h"
#include "cli/meters.h"
#include "cli/print_run.h"
#include "cli/progress_line.h"
#include "cli/records.h"
#include "cli/run_files.h"
#include "cli/run_plan.h"
#include "cli/run_teller.h"
#include "conduct/end_patience.h"
#include "conduct/energy_board.h"
#include "conduct/job.h"
#include "conduct/kernel_reader.h"
#include "conduct/live_driver.h"
#include "conduct/live_meters.h"
#include "conduct/mark_reader.h"
#include "conduct/patience.h"
#include "conduct/session.h"
#include "conduct/switch_thread.h"

namespace rubato::cli {
namespace {

// Of kernels that only a plan needs: enough to look at what the job ran, and small for runs of days.
constexpr Seconds kKernelsKept{30};
// Ranks of one training end within moments of each other.
constexpr Seconds kOthersPatience{5};

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

/// `record`: where it lies, as far as is known.
int leave(Invocation& invocation, const conduct::LiveOutcome& outcome, int concluded, bool stuck,
          const std::optional<std::filesystem::path>& record) {
  if (outcome.disk_hangs) {
    log::error(Error{ErrorCode::timeout, "the disk of the run record does not answer: no report",
                     record ? cat("what was written until then: rubato show ", record->string())
                            : std::string("is the folder for run records reachable? nothing was measured")});
  } else if (!outcome.session_finished) {
    log::error(Error{ErrorCode::timeout, "a driver call has not come back; the guard restores without us",
                     "`rubato doctor` says whether anything is left to put back"});
  }
  if (outcome.job && outcome.job->state == conduct::JobStatus::State::killed) {
    std::fflush(nullptr);
    die_of(outcome.job->signal);
  }
  invocation.status = outcome.session_finished ? 0 : 1;
  if (outcome.job) {
    invocation.status = outcome.job->code;
  } else if (outcome.interrupted && !invocation.command.empty()) {
    log::warning(
        "not waiting for the job any longer; it was left running, and the GPUs are as they were found");
    invocation.status = 128 + SIGINT;
  }
  if (invocation.status == 0) invocation.status = concluded;
  if (stuck || !outcome.session_finished || !outcome.meters_answered) conduct::leave_now(invocation.status);
  return invocation.status;
}

std::optional<MarkFolder> mark_folder(const std::string& run_id) {
  auto made = MarkFolder::create(run_id);
  if (made) return std::move(*made);
  const Error& error = made.error();
  log::warning(Error{error.code, cat(error.what, "; iterations cannot be followed"), error.hint});
  return std::nullopt;
}

template <class Reader>
void tell_complaints(Reader& reader) {
  for (const std::string& complaint : reader.take_complaints()) log::warning(complaint);
}

/// Whether a process on our GPUs is the job's, or another rank's.
std::function<conduct::Ownership(const std::vector<ComputeProcess>&)> ownership_of(
    pid_t job, const std::string& run_id, const std::optional<RankGroup>& group) {
  conduct::OwnershipCheck::SameGroup same_group;
  if (group) {
    same_group = [key = group->key](const std::vector<std::string>& entries) {
      const auto other = rank_group_of(entries);
      return other && other->key == key;
    };
  }
  const conduct::OwnershipCheck check(FsRoot{}, job, run_id, std::move(same_group));
  return [check](const std::vector<ComputeProcess>& processes) { return check.judge(processes); };
}

// Ranks of one training end within moments of each other; one that ends long before leaves the others'
// GPUs unwatched, which they should be told.
void tell_of_other_ranks(const RankGroup& group) {
  constexpr auto kPatience = std::chrono::milliseconds(1000);
  constexpr auto kStep = std::chrono::milliseconds(50);
  std::size_t others = other_ranks_alive(group);
  for (auto waited = kStep; others > 0 && waited <= kPatience; waited += kStep) {
    std::this_thread::sleep_for(kStep);
    others = other_ranks_alive(group);
  }
  if (others > 0)
    log::warning(cat("local rank ", group.local_rank, " of ", group.launcher, " has ended before ", others,
                     " other", others == 1 ? "" : "s",
                     " on this node: their GPUs are as they were found, and no longer measured"));
}

/// This run's part goes to the leader; the leader waits a moment for the others'. Nothing where this is no
/// leader.
std::optional<JobReport> end_of_job(const WrapPlan& plan, const Result<std::filesystem::path>& file,
                                    TimePoint now) {
  if (!plan.agent) return std::nullopt;
  agent::Totals own{
      .run = plan.agent->own().run, .node = plan.agent->own().node, .rank = plan.agent->own().rank};
  if (file)
    if (const auto read = read_summarised(*file)) own = totals_of(*read, plan.agent->own());
  plan.agent->finish(std::move(own), now, kOthersPatience);
  const agent::Leader* leader = plan.agent->leader();
  if (leader == nullptr) return std::nullopt;
  return JobReport{.launcher = plan.place->launcher,
                   .ranks = plan.place->world,
                   .agents = leader->agents_seen(),
                   .all_ranks = leader->were_all_here(),
                   .counts = leader->counts(),
                   .parts = plan.agent->totals()};
}

int tell_end(Invocation& invocation, const WrapPlan& plan, const conduct::Session& session, bool any_source,
             bool driver_stuck, TimePoint now) {
  if (plan.leader) return 0;
  if (plan.conclude) return plan.conclude(session.record_file());
  const bool only_words = !invocation.json && plan.report_file.empty() && !invocation.command.empty();
  const auto job = end_of_job(plan, session.record_file(), now);
  if (job && session.record_file()) keep_job_report(*job, *session.record_file());
  if (plan.agent && plan.agent->member() != nullptr && only_words) {
    const std::string& leader = plan.agent->member()->leader_run();
    log::info(leader.empty()
                  ? cat("rank ", plan.place->rank, " never reached rank 0; `rubato show last` has its part")
                  : cat("the report is rank 0's (run ", leader, "); `rubato show last` has the part of rank ",
                        plan.place->rank));
  } else if (any_source || !only_words) {
    print_run(invocation, session.record_file(), plan.report_file, job ? &*job : nullptr);
  } else if (driver_stuck) {
    log::info("nothing was measured");
  } else {
    log::info("nothing was measured: no GPU was found");
    log::info(
        "a simulated one shows what rubato does: rubato run --gpu sim:v100 --power-limit 150 -- rubato "
        "sim train resnet50 --iterations 200");
  }
  if (!plan.afterwards.empty()) log::info(plan.afterwards);
  if (plan.after && session.record_file()) plan.after(*session.record_file());
  return 0;
}

}  // namespace

int wrap(Invocation& invocation, WrapPlan plan, OpenGpus open) {
  std::shared_ptr<const Clock> clock = std::make_shared<RealClock>();
  if (open.selection.backend) clock = open.selection.backend->clock();
  record::RunInfo& info = plan.info;
  info.clock_rate = 1.0 / clock->wall(Seconds(1.0)).value();
  auto marks = plan.leader ? std::optional<MarkFolder>() : mark_folder(info.run_id);
  auto meters = plan.leader ? Result<OpenMeters>(OpenMeters{}) : open_meters(plan.meters, clock);
  if (!meters) return refuse(invocation, meters.error());
  if (!meters->meters.empty() && info.clock_rate != 1.0)
    log::warning(cat("the GPUs are simulated on a clock that runs ", number(info.clock_rate, 1),
                     " times faster than the wall: the watts of real meters do not belong to its seconds"));
  std::unique_ptr<wire::LeaseClient> lease;
  if (plan.guard) lease = std::make_unique<wire::LeaseClient>(std::move(plan.guard), clock);

  conduct::take_signals();
  std::optional<conduct::Job> job;
  HookPlan hooks;
  info.begin = clock->now();
  if (!invocation.command.empty()) {
    auto environment = plan.environment.empty() ? environment_of(open) : std::move(plan.environment);
    environment.emplace_back(conduct::kRunIdVariable, plan.leader.value_or(info.run_id));
    if (marks) {
      environment.emplace_back("RUBATO_MARKS", marks->path().string());
      std::error_code ignored;
      const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
      environment.emplace_back("RUBATO_BINARY", program.string());  // for the job's own windows
      hooks = plan_hooks(plan.hooks, invocation.command, environment_map(), program);
      environment.insert(environment.end(), hooks.environment.begin(), hooks.environment.end());
      for (const auto& note : hooks.notes) log::info(note);
      if (!hooks.not_installed.empty()) log::debug(hooks.not_installed);
    }
    auto started = conduct::Job::start(invocation.command, environment);
    if (!started) return refuse(invocation, started.error().error, started.error().exit_code);
    job = *started;
  }

  conduct::LiveMeters live_meters(std::move(meters->meters), clock);
  conduct::SessionParts parts;
  parts.channels = live_meters.channels();
  if (!parts.channels.empty()) parts.meter_news = [&live_meters](TimePoint) { return live_meters.take(); };
  const bool any_meter = !parts.channels.empty();
  parts.strategy = std::move(plan.strategy);
  parts.goal = plan.goal;
  if (!plan.leader) parts.gpus = std::move(open.gpus);
  const bool any_gpu = !parts.gpus.empty();
  if (lease) {
    parts.lease = std::make_unique<conduct::LeaseHolder>(
        lease.get(), plan.wanted.knobs, plan.wanted.found_sm_clock, plan.rescue, plan.max_slowdown);
  }
  // The job runs by now and signals are for it: a home that hangs must not keep this thread.
  std::promise<std::filesystem::path> opened;
  auto record_place = opened.get_future();
  if (!plan.leader) {
    parts.open_record = [&] {
      auto writer = open_record(info);
      if (!writer) return writer;
      for (const Error& error : meters->left_out)
        writer->decision({info.begin, "meter left out", {}, error.what});
      if (!plan.attached.empty()) writer->decision({info.begin, record::kAttached, {}, plan.attached});
      if (!plan.intent.empty()) writer->decision({info.begin, "strategy", {}, plan.intent});
      opened.set_value(writer->file());
      return writer;
    };
  }
  std::optional<conduct::MarkReader> reader;
  std::optional<conduct::EnergyBoard> board;
  std::optional<conduct::KernelReader> kernels;
  if (marks && job) {
    reader.emplace(marks->path(), conduct::MarkReaderOptions{.begin = info.begin});
    parts.marks = [&reader](TimePoint now, bool last) {
      auto news = last ? reader->finish(now) : reader->poll(now);
      tell_complaints(*reader);
      return news;
    };
    if (auto made = conduct::EnergyBoard::create(marks->path(), parts.gpus.size() + parts.channels.size(),
                                                 info.clock_rate)) {
      board.emplace(std::move(*made));
      parts.board = [&board, &clock](TimePoint until, std::span<const conduct::GpuNow> gpus,
                                     std::span<const conduct::ChannelNow> channels) {
        const Seconds ago = clock->wall(clock->now() - until);
        board->publish((RealClock().now() - ago).ns, gpus, channels);
      };
    }
    if (plan.inside && lease) {
      const govern::SwitchLimits limits = limits_of(*plan.inside);
      parts.plan = std::make_unique<conduct::PlanRunner>(
          std::move(*plan.inside), limits, std::make_unique<conduct::SwitchThread>(clock, limits));
    }
    if (plan.kernels_for_the_plan) parts.keep_kernels = kKernelsKept;
    if (plan.hooks.kernels) {
      kernels.emplace(marks->path(), conduct::KernelReaderOptions{.begin = info.begin});
      parts.kernels = [&kernels](TimePoint now, bool last) {
        auto news = last ? kernels->finish(now) : kernels->poll(now);
        tell_complaints(*kernels);
        return news;
      };
    }
    if (any_gpu && !invocation.quiet) parts.forecast_ready = tell_forecast;
  }
  const std::optional<pid_t> process = job ? std::optional(job->pid()) : plan.pid;
  if (process) parts.ownership = ownership_of(*process, info.run_id, plan.group);
  parts.beside = plan.agent;
  parts.allow_shared = plan.allow_shared;
  if (plan.goal) parts.power_budget = plan.goal->power_budget;
  parts.found_sm_clock = plan.wanted.found_sm_clock;
  parts.warn = [](const Error& error) { log::warning(error); };
  parts.counters = plan.counters;
  LiveLine live(info.begin, [terminal = isatty(STDERR_FILENO) == 1](const std::string& line) {
    terminal ? log::info(line) : log::debug(line);
  });
  parts.iteration_found = [&live](const progress::Ruling& ruling) { live.found(ruling); };
  parts.shift_noticed = [&live](const GpuId& gpu, const Shift& shift) { live.shifted(gpu, shift); };
  if (!plan.intent.empty()) {
    live.begins(plan.intent);
    parts.decided = [&live](const record::Decision& decision) { live.decided(decision); };
    parts.so_far = [&live](const conduct::SoFar& so_far, std::int64_t iterations, const Setting& setting) {
      live.so_far(so_far, iterations, setting);
    };
  }
  ProgressLine progress(invocation.quiet);
  if (marks) {
    parts.state = tell_run_state(marks->path(), info, invocation.gpu, process);
    if (plan.seconds)
      parts.state = [tell = std::move(parts.state), all = *plan.seconds, &progress](record::RunState state) {
        progress.show(static_cast<std::size_t>(std::min(state.running, all).value()),
                      static_cast<std::size_t>(std::ceil(all.value())), "seconds measured");
        tell(std::move(state));
      };
    parts.state_period = Seconds(info.clock_rate);
  }
  if (open.selection.backend) {
    parts.backend = std::string(open.selection.backend->name());
    parts.driver_version = open.selection.backend->driver_version();
  }
  conduct::Session session(std::move(parts), info.begin);

  conduct::Watched watched;
  if (job) watched.job = &*job;
  if (plan.seconds) watched.deadline = info.begin + *plan.seconds;
  watched.pid = plan.pid;
  if (plan.agent) watched.news = plan.agent->fd();
  watched.disk_is_slow = [] {
    log::info(cat("the disk of the run record is slow: waiting for it, ", conduct::kDiskPatience,
                  " at most; Ctrl-C ends the waiting"));
  };
  const auto outcome = conduct::LiveDriver(clock, session, lease.get(), &live_meters).run(watched);
  progress.take_away();
  if (session.restoration_failed()) {
    log::error(Error{ErrorCode::conflict,
                     "a GPU could not be put back as it was found; the report says which and why",
                     "rubato restore"});
  }
  int concluded = 0;
  if (outcome.session_finished)
    concluded = tell_end(invocation, plan, session, any_gpu || any_meter, open.driver_stuck, clock->now());
  if (outcome.session_finished && hooks.python_expected && !session.marks_seen())
    log::info(no_hook_came(marks ? marks->path() : std::filesystem::path()));
  const bool ended_well =
      outcome.job && outcome.job->state == conduct::JobStatus::State::exited && outcome.job->code == 0;
  if (plan.group && !plan.leader && any_gpu && ended_well) tell_of_other_ranks(*plan.group);
  if (plan.pid && outcome.interrupted) log::info(cat("process ", *plan.pid, " goes on"));
  marks.reset();  // leave() may end this process by a signal
  std::optional<std::filesystem::path> record;
  if (record_place.wait_for(std::chrono::seconds(0)) == std::future_status::ready)
    record = record_place.get();
  return leave(invocation, outcome, concluded, open.driver_stuck || meters->stuck, record);
}

}  // namespace rubato::cli
