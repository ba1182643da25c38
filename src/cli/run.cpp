#include "cli/run.h"

#include <limits>

#include "base/log.h"
#include "base/text.h"
#include "cli/attach.h"
#include "cli/caller.h"
#include "cli/guarding.h"
#include "cli/job_gpus.h"
#include "cli/learned.h"
#include "cli/place.h"
#include "cli/print_run.h"
#include "cli/ranks.h"
#include "cli/run_agents.h"
#include "cli/run_asked.h"
#include "cli/run_files.h"
#include "cli/run_strategy.h"
#include "cli/stale.h"
#include "cli/wrap.h"
#include "conduct/patience.h"
#include "govern/measure_only_strategy.h"

namespace rubato::cli {

std::optional<Error> missing_right_of(const Wanted& wanted, const OpenGpus& open) {
  const Place here = place(FsRoot{}, environment_map());
  std::optional<Error> why;
  if (open.selection.backend->name() == "nvml" && here.right != Right::here) why = missing_right_here(here);
  return missing_right(wanted, open.gpus, why);
}

namespace {

/// Where the driver stood still the job runs unmeasured.
bool gpus_stuck(std::optional<Judged>& judged) {
  if (judged) return false;
  judged.emplace();
  judged->only.why = conduct::stands_still();
  return true;
}

/// Another rubato measures and sets for this job: only its part of the job is run here.
int follow(Invocation& invocation, const Ranks& ranks, WrapPlan plan, bool asked_to_set) {
  if (ranks.group() || !asked_to_set)
    log::debug(ranks.in_words());
  else
    log::warning(cat(ranks.in_words(), "; the setting asked for here is not made"));
  plan.leader = ranks.leadership().leader->run_id;
  plan.strategy = std::make_unique<govern::MeasureOnlyStrategy>(ranks.in_words());
  // Where a real GPU lies its driver is not needed here; a simulated one must be passed on to the job.
  OpenGpus open;
  if (names_simulated(invocation.gpu))
    if (auto passed_on = open_gpus(invocation.gpu)) open = std::move(*passed_on);
  return wrap(invocation, std::move(plan), std::move(open));
}

/// Of one that has nobody to agree with: whoever comes first leads.
std::int64_t ranks_to_wait_for(const Asked& asked) {
  return asked.place ? asked.place->local_world : std::numeric_limits<std::int64_t>::max();
}

Error others_run(const Ranks& ranks) {
  return {ErrorCode::busy, cat(ranks.in_words(), ": an experiment needs the GPUs for itself"),
          "start it outside of that run"};
}

}  // namespace

int run_job(Invocation& invocation, const RunOptions& options, std::optional<Experiment> experiment) {
  const bool attaches = options.pid > 0;
  if (invocation.command.empty() && !attaches) {
    return refuse(invocation, Error{ErrorCode::invalid_argument,
                                    invocation.separated ? "no command stands behind --"
                                                         : "no command to run: put it behind --",
                                    "rubato run --max-slowdown 5% -- python3 train.py"});
  }
  if (attaches)
    if (const auto fine = fits_running_job(options, invocation.separated); !fine)
      return refuse(invocation, fine.error());
  const auto read = parse_asked(options, experiment.has_value(), environment_map());
  if (!read) return refuse(invocation, read.error());
  const Asked& asked = *read;
  const auto spec = backend_spec(invocation.gpu);
  if (!spec) return refuse(invocation, spec.error());
  const bool sets = experiment ? experiment->strategy != nullptr : asked.anything() && !options.dry_run;

  // The order matters: guards before any driver call of ours, rights dropped before any file of ours.
  // Simulated GPUs are the user's own files, which root's guard would look for among root's.
  const bool simulated = names_simulated(invocation.gpu);
  const auto caller = options.as_root ? std::optional<Caller>() : caller_behind_sudo();
  if (!caller) return refuse(invocation, caller.error());
  if (*caller && simulated)
    if (const auto became = become(**caller); !became) return refuse(invocation, became.error());
  if (options.sudo && simulated) log::info("simulated GPUs need no rights: --sudo changes nothing here");
  put_back_stale(invocation.gpu);

  WrapPlan plan;
  plan.info = describe_run("run", invocation.command);
  if (attaches)
    if (const auto fine = attach(plan, options.pid); !fine) return refuse(invocation, fine.error());
  plan.hooks = options.job.hooks();
  plan.counters = asked.counters;
  // What this process is a rank of says nothing of a job that runs already.
  Ranks ranks = attaches ? Ranks() : Ranks::of_this_process(true);
  const bool drops_later = *caller && !simulated;
  // The status to exit with where another rank leads these GPUs.
  const auto elected = [&](std::vector<std::string> uuids) -> std::optional<int> {
    ranks.elect(std::move(uuids), plan.info.run_id, ranks_to_wait_for(asked));
    if (!ranks.follows()) return std::nullopt;
    if (experiment) return refuse(invocation, others_run(ranks));
    return follow(invocation, ranks, std::move(plan), sets && !asked.governing);
  };
  if (sets && !drops_later && ranks.may_follow())
    if (const auto status = elected(uuids_asked_by_child(invocation.gpu))) return *status;
  // Shared with the thread that asks the driver, which may stay behind in it.
  const auto guarded = std::make_shared<GuardedRun>();
  if (sets) *guarded = start_guard(invocation.gpu, {options.sudo && !simulated});
  if (guarded->fatal) return refuse(invocation, guarded->why_not);
  if (experiment && guarded->observes) return refuse(invocation, only_observes());
  if (drops_later) {
    if (const auto became = become(**caller); !became) return refuse(invocation, became.error());
    guarded->more_rights_than_us = true;
  }
  if (options.report_file)
    if (const auto fine = check_report_target(*options.report_file); !fine)
      return refuse(invocation, fine.error());

  // What stands still for the guard stands still for us.
  const bool stuck_already = !guarded->channel && guarded->why_not.code == ErrorCode::timeout;
  auto open =
      stuck_already ? Result<OpenGpus>(OpenGpus{.driver_stuck = true}) : open_gpus_for_job(invocation);
  if (!open) return refuse(invocation, open.error());
  if (attaches) keep_used_by(*open, options.pid, !invocation.gpu.empty());
  // There is no command that could run all the same.
  if (attaches && open->driver_stuck) conduct::leave_now(refuse(invocation, conduct::stands_still(), 1));
  if (attaches && open->gpus.empty())
    return refuse(invocation, Error{ErrorCode::unavailable, "there is no GPU to watch or set for it",
                                    "rubato doctor says what is missing"});
  const bool nothing_opened = open->driver_stuck;
  if (!attaches && !ranks.elected() && !open->gpus.empty()) {
    std::vector<std::string> uuids;
    for (const auto& gpu : open->gpus) uuids.push_back(gpu->identity().id.uuid);
    if (const auto status = elected(std::move(uuids))) return *status;
  }
  if (ranks.elected()) keep_only(*open, ranks.leadership().uuids);
  plan.group = ranks.group();

  plan.environment = environment_of(*open);
  const auto gpus = std::make_shared<OpenGpus>(std::move(*open));
  auto judged = conduct::patiently<Judged>(
      [&options, gpus, guarded, sets, asked] { return judge(options, asked, *gpus, *guarded, sets); });
  const bool stuck = gpus_stuck(judged) || nothing_opened;
  if (stuck_already) judged->only = {guarded->why_not, false};
  const bool told = nothing_opened && !stuck_already;
  if (told) judged->only = {conduct::stands_still(), true};
  if (!judged->fits && is_in_the_command(judged->fits.error()))
    return refuse(invocation, judged->fits.error());
  for (const auto& note : judged->wanted.notes) asked.governing ? log::info(note) : log::warning(note);

  const MeasureOnly& only = judged->only;
  if (experiment && sets && !only.why.what.empty()) return refuse(invocation, only.why);
  if (experiment)
    plan.conclude = std::move(experiment->conclude);
  else if (!only.why.what.empty() && !told && !(asked.governing && gpus->gpus.empty()))
    tell(only);
  else if (only.why.what.empty() && !asked.governing && !asked.plan && asked.bound)
    log::warning(
        "--max-slowdown is not watched at a setting of your own choice; the report says what it cost");
  plan.afterwards = judged->afterwards;

  if (experiment && sets) {
    plan.strategy = std::move(experiment->strategy);
  } else {
    auto chosen = strategy_for(options, asked, *judged, *gpus, plan.info);
    if (!chosen) return refuse(invocation, chosen.error());
    plan.strategy = std::move(chosen->strategy);
    plan.intent = std::move(chosen->intent);
    if (!plan.intent.empty() && asked.governing) plan.goal = asked.governing->goal;
    plan.inside = std::move(chosen->plan);
    if (!plan.intent.empty() && asked.governing && asked.governing->memory) plan.after = remember;
  }
  agree(plan, asked, *judged, *gpus, options.agents);
  if (plan.inside && !plan.hooks.kernels) {
    plan.hooks.kernels = kernel_cycle_for(*plan.inside);
    plan.kernels_for_the_plan = true;
  }
  plan.wanted = judged->wanted;
  // Unused it is closed when this process ends, and its guard with it.
  if (only.why.what.empty()) plan.guard = std::move(guarded->channel);
  plan.rescue = rescue_for(invocation.gpu, guarded->managed);
  if (asked.governing && !asked.power_budget()) plan.max_slowdown = asked.governing->goal.max_slowdown;
  if (asked.plan) plan.max_slowdown = asked.plan->max_slowdown;
  plan.allow_shared = options.allow_shared;
  plan.meters = options.job.meters;
  plan.report_file = options.report_file.value_or("");
  return wrap(invocation, std::move(plan), stuck ? OpenGpus{.driver_stuck = true} : std::move(*gpus));
}

}  // namespace rubato::cli
