#include "cli/run.h"

#include <algorithm>
#include <limits>

#include "base/log.h"
#include "base/text.h"
#include "cli/caller.h"
#include "cli/factor_options.h"
#include "cli/guarding.h"
#include "cli/learned.h"
#include "cli/place.h"
#include "cli/print_run.h"
#include "cli/ranks.h"
#include "cli/run_files.h"
#include "cli/run_plan.h"
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

/// MHz that a rank may be given; nothing where the SM clock is not what is chosen.
std::vector<double> clocks_of_ranks(const Judged& judged) {
  if (judged.space)
    for (const plan::KnobAxis& axis : judged.space->space.axes)
      if (axis.knob == Knob::sm_clock) return axis.values;
  if (judged.only.why.what.empty())
    log::warning(
        "--rank-clocks own: the SM clock is not what is chosen here, so all ranks have the same setting");
  return {};
}

/// Joins the agents of the job; what keeps it from that leaves it measuring only.
void agree(WrapPlan& plan, const Asked& asked, const Judged& judged, const OpenGpus& open,
           const AgentsText& text) {
  if (!asked.place && asked.rank_clocks)
    log::warning(Error{ErrorCode::unavailable,
                       "--rank-clocks own: this run has no ranks beside it to agree with",
                       "on one node, with a rubato run for each rank: --agents job"});
  if (!asked.place || open.gpus.empty()) return;
  AgentFacts facts{.run = plan.info.run_id};
  for (const auto& gpu : open.gpus) facts.gpus.push_back(gpu->identity().id);
  const bool may_set = judged.only.why.what.empty();
  if (may_set && judged.space)
    facts.space = cat(judged.space->space.gpu, ", ", conduct::describe(judged.space->space));
  else if (may_set)
    facts.space = describe(judged.wanted.setting);
  auto agent = make_job_agent(*asked.place, text, facts, *open.selection.backend->clock());
  if (!agent) {
    const Error& error = agent.error();
    log::warning(Error{error.code,
                       cat(error.what, "; the agents of this job cannot agree, so it is measured only"),
                       error.hint});
    plan.strategy = std::make_unique<govern::MeasureOnlyStrategy>(error.what);
    plan.intent.clear();
    return;
  }
  const auto& knobs = judged.wanted.knobs;
  const bool clocks =
      std::any_of(knobs.begin(), knobs.end(), [](Knob knob) { return knob != Knob::power_limit; });
  plan.place = asked.place;
  plan.agent = std::move(*agent);
  plan.strategy =
      agreeing(plan.agent, std::move(plan.strategy),
               {.clocks = clocks,
                .stated = judged.wanted.found_sm_clock.has_value(),
                .never = judged.only.why.what,
                .rank_clocks = asked.rank_clocks ? clocks_of_ranks(judged) : std::vector<double>()});
  if (plan.agent->member() != nullptr) {
    plan.intent = plan.intent.empty() ? std::string() : "what rank 0 of the job and all its agents agree on";
    plan.after = {};
  }
}

Error others_run(const Ranks& ranks) {
  return {ErrorCode::busy, cat(ranks.in_words(), ": an experiment needs the GPUs for itself"),
          "start it outside of that run"};
}

}  // namespace

int run_job(Invocation& invocation, const RunOptions& options, std::optional<Experiment> experiment) {
  if (invocation.command.empty()) {
    return refuse(invocation, Error{ErrorCode::invalid_argument,
                                    invocation.separated ? "no command stands behind --"
                                                         : "no command to run: put it behind --",
                                    "rubato run --max-slowdown 5% -- python3 train.py"});
  }
  auto wanted = parse_wanted(options.wanted);
  if (!wanted) return refuse(invocation, wanted.error());
  std::optional<AskedPlan> asked_plan;
  if (options.plan_file && !experiment) {
    auto read = read_asked_plan(*options.plan_file, options.wanted, options.governing);
    if (!read) return refuse(invocation, read.error());
    *wanted = wanted_by(*read, std::move(*wanted));
    asked_plan = std::move(*read);
  }
  const auto bound = parse_max_slowdown(options.governing.max_slowdown);
  if (!bound) return refuse(invocation, bound.error());
  auto governing =
      parse_governing(options.governing, !wanted->setting.empty(), std::time(nullptr), environment_map());
  if (!governing) return refuse(invocation, governing.error());
  Asked asked{.bound = *bound, .wanted = std::move(*wanted), .governing = std::nullopt, .plan = std::nullopt};
  if (!experiment) asked.governing = std::move(*governing);
  asked.plan = std::move(asked_plan);
  auto place = parse_agents(options.agents, environment_map());
  if (!place) return refuse(invocation, place.error());
  const auto rank_clocks = parse_rank_clocks(options.agents.rank_clocks);
  if (!rank_clocks) return refuse(invocation, rank_clocks.error());
  asked.rank_clocks = *rank_clocks;
  const auto counters = wanted_counters(options.job.counters);
  if (!counters) return refuse(invocation, counters.error());
  const auto spec = backend_spec(invocation.gpu);
  if (!spec) return refuse(invocation, spec.error());
  const bool sets = experiment ? experiment->strategy != nullptr : asked.anything() && !options.dry_run;

  // A plan switches inside the iteration of one GPU, an experiment measures whole runs.
  // A budget of watts is a node's own.
  const bool budget = asked.governing && asked.governing->goal.power_budget;
  if (sets && !experiment && !asked.plan && !budget) asked.place = std::move(*place);

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
  plan.hooks = options.job.hooks();
  plan.counters = *counters;
  Ranks ranks = Ranks::of_this_process(true);
  const bool drops_later = *caller && !simulated;
  if (sets && !drops_later && ranks.may_follow()) {
    ranks.elect(uuids_asked_by_child(invocation.gpu), plan.info.run_id, ranks_to_wait_for(asked));
    if (ranks.follows() && experiment) return refuse(invocation, others_run(ranks));
    if (ranks.follows()) return follow(invocation, ranks, std::move(plan), sets && !asked.governing);
  }
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
  const bool nothing_opened = open->driver_stuck;
  if (!ranks.elected() && !open->gpus.empty()) {
    std::vector<std::string> uuids;
    for (const auto& gpu : open->gpus) uuids.push_back(gpu->identity().id.uuid);
    ranks.elect(std::move(uuids), plan.info.run_id, ranks_to_wait_for(asked));
    if (ranks.follows() && experiment) return refuse(invocation, others_run(ranks));
    if (ranks.follows()) return follow(invocation, ranks, std::move(plan), sets && !asked.governing);
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
  else if (only.why.what.empty() && !asked.governing && !asked.plan && *bound)
    log::warning(
        "--max-slowdown is not watched at a setting of your own choice; the report says what it cost");
  plan.afterwards = judged->afterwards;

  if (experiment && sets) {
    plan.strategy = std::move(experiment->strategy);
  } else {
    auto chosen = strategy_for(options, asked, *judged, *gpus, invocation.command);
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
  if (asked.governing && !budget) plan.max_slowdown = asked.governing->goal.max_slowdown;
  if (asked.plan) plan.max_slowdown = asked.plan->max_slowdown;
  plan.allow_shared = options.allow_shared;
  plan.meters = options.job.meters;
  plan.report_file = options.report_file.value_or("");
  return wrap(invocation, std::move(plan), stuck ? OpenGpus{.driver_stuck = true} : std::move(*gpus));
}

namespace {

void add_governing(CLI::App& command, GoverningText& text) {
  command
      .add_option(
          "--max-slowdown", text.max_slowdown,
          "how much longer the whole job may take, search included; 5% where nothing is said, 0 for only "
          "what costs no time")
      ->type_name("PERCENT");
  command
      .add_option("--objective", text.objective,
                  "what is to become small: energy, edp, ed2p, or cost, which takes --price and "
                  "--price-hour")
      ->type_name("NAME");
  command.add_option("--knobs", text.knobs, "what may be set: power-limit, sm-clock, memory-clock")
      ->type_name("LIST")
      ->delimiter(',');
  command
      .add_option("--strategy", text.strategy,
                  "who chooses the setting where none is given; `rubato` where nothing is said")
      ->type_name("NAME");
  command
      .add_option("--power-budget", text.power_budget,
                  "for the power limits of all GPUs of the job together, divided so that it loses the least "
                  "time")
      ->type_name("WATTS");
  add_second_price(command, text.second);
  command
      .add_option("--eta", text.second.eta,
                  "Zeus's weight: so much of energy, the rest of time at the board's highest power limit")
      ->type_name("SHARE");
  command
      .add_option("--deadline", text.deadline,
                  "when the job has to be over, as in 90m, 18:30 or 2026-11-22T18:30; Slurm's own is known")
      ->type_name("TIME");
  command.add_flag("--no-memory", text.no_memory,
                   "neither use nor keep what this program settled at in an earlier run");
}

}  // namespace

void add_run(CLI::App& app, Invocation& invocation) {
  auto* command =
      app.add_subcommand("run", "run a command at a better setting, measured, and put everything back");
  static RunOptions options;
  add_common(*command, invocation);
  command->add_option("--power-limit", options.wanted.power_limit_w, "power limit of every GPU the job uses")
      ->type_name("W");
  command->add_option("--sm-clock", options.wanted.sm_clock_mhz, "lock the SM clock")->type_name("MHZ");
  command->add_option("--memory-clock", options.wanted.memory_clock_mhz, "lock the memory clock")
      ->type_name("MHZ");
  add_governing(*command, options.governing);
  command
      ->add_option("--found-sm-clock", options.wanted.found_sm_clock,
                   "the SM clock lock that is in force now, to be put back at the end")
      ->type_name("MIN:MAX");
  command
      ->add_option(
          "--plan", options.plan_file,
          "switch clocks inside the iteration as this plan says (`rubato layers plan`), where that pays")
      ->type_name("FILE");
  command->add_flag("--dry-run", options.dry_run, "say what would be set or searched, and only measure");
  command->add_flag("--accept-unrestored", options.accept_unrestored,
                    "set even where nothing could put it back after a kill");
  command->add_flag("--allow-shared", options.allow_shared,
                    "set even where other programs compute on the GPU");
  auto* sudo = command->add_flag("--sudo", options.sudo, "start the guard, and only the guard, through sudo");
  command
      ->add_flag("--as-root", options.as_root, "under sudo: stay root instead of becoming the caller again")
      ->excludes(sudo);
  command->add_option("--seed", options.seed, "of the random starts of control blocks, and of searches")
      ->capture_default_str();
  command
      ->add_option("--report", options.report_file,
                   "write the report to FILE (or fd:N) instead of standard error")
      ->type_name("FILE");
  command
      ->add_option(
          "--agents", options.agents.agents,
          "with whom the setting is agreed on: auto (the ranks of a job on several nodes), job (also "
          "on one node), off, or RANK/SIZE@HOST:PORT")
      ->type_name("WHO")
      ->capture_default_str();
  command
      ->add_option("--agents-key", options.agents.key_file,
                   "the file of mode 0600 that all ranks derive the job's secret from, in the place of the "
                   "user's own in the state folder")
      ->type_name("FILE");
  command
      ->add_option("--rank-clocks", options.agents.rank_clocks,
                   "same: one SM clock for all ranks; own: a lower one for ranks that wait for slower ones "
                   "(rank 0's word counts)")
      ->type_name("WHICH")
      ->capture_default_str();
  add_job_options(*command, options.job);
  command->footer("rubato run [OPTIONS] -- COMMAND");
  command->callback([&invocation] { run_job(invocation, options); });
}

}  // namespace rubato::cli
