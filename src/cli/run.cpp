#include <memory>
#include <optional>
#include <string>

#include "base/log.h"
#include "base/text.h"
#include "cli/caller.h"
#include "cli/guarding.h"
#include "cli/invocation.h"
#include "cli/job_options.h"
#include "cli/place.h"
#include "cli/print_run.h"
#include "cli/ranks.h"
#include "cli/run_files.h"
#include "cli/stale.h"
#include "cli/wrap.h"
#include "conduct/patience.h"
#include "govern/measure_only_strategy.h"
#include "govern/registry.h"

namespace rubato::cli {
namespace {

struct Options {
  WantedText wanted;
  std::string max_slowdown;
  bool dry_run = false;
  bool accept_unrestored = false;
  bool allow_shared = false;
  bool sudo = false;
  bool as_root = false;
  std::uint64_t seed = 1;
  std::optional<std::string> report_file;
  JobOptions job;
};

/// Why nothing will be set; `what` is empty where something may be.
struct MeasureOnly {
  Error why;
  bool asked_for = false;  // by the user, so no warning
};

MeasureOnly nothing_asked(const std::optional<double>& bound) {
  const std::string asked = bound ? cat("a setting inside --max-slowdown ", number(*bound * 100, 2), " %")
                                  : std::string("nothing was asked to be set, and a setting");
  return {Error{ErrorCode::unavailable,
                cat(asked, " cannot be chosen by this version yet: measuring only, nothing is changed"),
                "set one yourself, as in: rubato run --power-limit W -- COMMAND"},
          true};
}

/// Of the driver's rights this machine says more than the driver does.
std::optional<Error> missing_right_of(const Wanted& wanted, const OpenGpus& open) {
  const Place here = place(FsRoot{}, environment_map());
  std::optional<Error> why;
  if (open.selection.backend->name() == "nvml" && here.right != Right::here) why = missing_right_here(here);
  return missing_right(wanted, open.gpus, why);
}

MeasureOnly why_measure_only(const Options& options, const std::optional<double>& bound, const Wanted& wanted,
                             const OpenGpus& open, const GuardedRun& guarded) {
  if (wanted.setting.empty()) return nothing_asked(bound);
  if (options.dry_run) {
    return {Error{ErrorCode::unavailable,
                  cat("dry run: would set ", describe(wanted.setting), "; nothing is changed"),
                  {}},
            true};
  }
  if (open.gpus.empty()) return {Error{ErrorCode::unavailable, "there is no GPU to set", {}}, false};
  // Whoever starts the guard through sudo has its rights judged by the first real set.
  if (!guarded.more_rights_than_us)
    if (const auto missing = missing_right_of(wanted, open)) return {*missing, false};
  if (!guarded.channel) return {guarded.why_not, false};
  const auto lonely = nothing_outlives(*open.selection.backend, guarded.own_scope);
  if (lonely && !options.accept_unrestored) return {*lonely, false};
  if (lonely)
    log::warning(cat(lonely->what, "; ", describe(wanted.setting),
                     " is set all the same, as you accept. After a kill of everything at once, ",
                     after_a_kill(*open.selection.backend)));
  return {};
}

void tell(const MeasureOnly& only) {
  if (only.asked_for) {
    log::info(only.why.what);
    return;
  }
  log::warning(Error{only.why.code, cat(only.why.what, "; going on, measuring only"), only.why.hint});
}

/// What a right that is missing keeps from being set here; empty where none is missing, or nobody wanted to.
std::string could_be_set(const OpenGpus& open, bool wanted) {
  if (!wanted || open.gpus.empty()) return {};
  device::Gpu& gpu = *open.gpus.front();
  const Capabilities& can = gpu.capabilities();
  std::string what;
  if (const auto limits = gpu.power_limits(); limits && can.set_power_limit.needs_right)
    what = cat("a power limit of ", number(limits->min.value(), 1), " to ", limits->max, " (",
               limits->requested, " now)");
  if (const auto clocks = gpu.supported_clocks();
      clocks && !clocks->sm.empty() && can.set_sm_clock.needs_right)
    what += cat(what.empty() ? "" : ", ", "an SM clock of ", number(clocks->sm.front().value(), 1), " to ",
                clocks->sm.back());
  if (what.empty()) return {};
  return cat("with the right to set, rubato could use ", what,
             "; what that would cost and save here is not known before it is tried");
}

Result<std::unique_ptr<govern::Strategy>> strategy_for(const Options& options, const Wanted& wanted,
                                                       const std::string& why_not) {
  govern::StrategyRequest request;
  request.wanted = wanted.setting;
  request.found_clock_stated = wanted.found_sm_clock.has_value();
  request.reason = why_not;
  request.seed = options.seed;
  return govern::make_strategy(why_not.empty() ? "fixed" : govern::kMeasureOnly, request);
}

/// What the GPUs say to what was asked for.
struct Judged {
  Status fits;
  Wanted wanted;  // fitted
  MeasureOnly only;
  std::string afterwards;
};

Judged judge(const Options& options, const std::optional<double>& bound, Wanted wanted, const OpenGpus& open,
             const GuardedRun& guarded, bool sets) {
  Judged out{.fits = fit_to_gpus(wanted, open.gpus)};
  out.only = out.fits ? why_measure_only(options, bound, wanted, open, guarded)
                      : MeasureOnly{out.fits.error(), false};
  if (!out.only.why.what.empty()) out.afterwards = could_be_set(open, sets || bound);
  out.wanted = std::move(wanted);
  return out;
}

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

int run(Invocation& invocation, const Options& options) {
  if (invocation.command.empty()) {
    return refuse(invocation, Error{ErrorCode::invalid_argument,
                                    invocation.separated ? "no command stands behind --"
                                                         : "no command to run: put it behind --",
                                    "rubato run --power-limit 150 -- python3 train.py"});
  }
  auto wanted = parse_wanted(options.wanted);
  if (!wanted) return refuse(invocation, wanted.error());
  const auto bound = parse_max_slowdown(options.max_slowdown);
  if (!bound) return refuse(invocation, bound.error());
  const auto spec = backend_spec(invocation.gpu);
  if (!spec) return refuse(invocation, spec.error());
  const bool sets = !wanted->setting.empty() && !options.dry_run;

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
  Ranks ranks = Ranks::of_this_process(true);
  const bool drops_later = *caller && !simulated;
  if (sets && !drops_later && ranks.may_follow()) {
    ranks.elect(uuids_asked_by_child(invocation.gpu), plan.info.run_id);
    if (ranks.follows()) return follow(invocation, ranks, std::move(plan), sets);
  }
  // Shared with the thread that asks the driver, which may stay behind in it.
  const auto guarded = std::make_shared<GuardedRun>();
  if (sets) *guarded = start_guard(invocation.gpu, {options.sudo && !simulated});
  if (guarded->fatal) return refuse(invocation, guarded->why_not);
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
    ranks.elect(std::move(uuids), plan.info.run_id);
    if (ranks.follows()) return follow(invocation, ranks, std::move(plan), sets);
  }
  if (ranks.elected()) keep_only(*open, ranks.leadership().uuids);
  plan.group = ranks.group();

  plan.environment = environment_of(*open);
  const auto gpus = std::make_shared<OpenGpus>(std::move(*open));
  auto judged = conduct::patiently<Judged>([&options, gpus, guarded, bound = *bound, sets, wanted = *wanted] {
    return judge(options, bound, wanted, *gpus, *guarded, sets);
  });
  const bool stuck = gpus_stuck(judged) || nothing_opened;
  if (stuck_already) judged->only = {guarded->why_not, false};
  const bool told = nothing_opened && !stuck_already;
  if (told) judged->only = {conduct::stands_still(), true};
  if (!judged->fits && is_in_the_command(judged->fits.error()))
    return refuse(invocation, judged->fits.error());
  for (const auto& note : judged->wanted.notes) log::warning(note);

  const MeasureOnly& only = judged->only;
  if (!only.why.what.empty() && !told)
    tell(only);
  else if (only.why.what.empty() && *bound)
    log::warning(
        "--max-slowdown is not watched at a setting of your own choice; the report says what it cost");
  plan.afterwards = judged->afterwards;

  auto strategy = strategy_for(options, judged->wanted, only.why.what);
  if (!strategy) return refuse(invocation, strategy.error());
  plan.strategy = std::move(*strategy);
  plan.wanted = judged->wanted;
  // Unused it is closed when this process ends, and its guard with it.
  if (only.why.what.empty()) plan.guard = std::move(guarded->channel);
  plan.rescue = rescue_for(invocation.gpu);
  plan.allow_shared = options.allow_shared;
  plan.meters = options.job.meters;
  plan.report_file = options.report_file.value_or("");
  return wrap(invocation, std::move(plan), stuck ? OpenGpus{.driver_stuck = true} : std::move(*gpus));
}

}  // namespace

void add_run(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand("run", "run a command at a setting, measured, and put everything back");
  static Options options;
  add_common(*command, invocation);
  command->add_option("--power-limit", options.wanted.power_limit_w, "power limit of every GPU the job uses")
      ->type_name("W");
  command->add_option("--sm-clock", options.wanted.sm_clock_mhz, "lock the SM clock")->type_name("MHZ");
  command->add_option("--memory-clock", options.wanted.memory_clock_mhz, "lock the memory clock")
      ->type_name("MHZ");
  command
      ->add_option("--max-slowdown", options.max_slowdown,
                   "how much longer the job may take, as in 5%; no setting is chosen by it yet")
      ->type_name("PERCENT");
  command
      ->add_option("--found-sm-clock", options.wanted.found_sm_clock,
                   "the SM clock lock that is in force now, to be put back at the end")
      ->type_name("MIN:MAX");
  command->add_flag("--dry-run", options.dry_run, "say what would be set, and only measure");
  command->add_flag("--accept-unrestored", options.accept_unrestored,
                    "set even where nothing could put it back after a kill");
  command->add_flag("--allow-shared", options.allow_shared,
                    "set even where other programs compute on the GPU");
  auto* sudo = command->add_flag("--sudo", options.sudo, "start the guard, and only the guard, through sudo");
  command
      ->add_flag("--as-root", options.as_root, "under sudo: stay root instead of becoming the caller again")
      ->excludes(sudo);
  command->add_option("--seed", options.seed, "of the random starts of control blocks")
      ->capture_default_str();
  command
      ->add_option("--report", options.report_file,
                   "write the report to FILE (or fd:N) instead of standard error")
      ->type_name("FILE");
  add_job_options(*command, options.job);
  command->footer("rubato run [OPTIONS] -- COMMAND");
  command->callback([&invocation] { run(invocation, options); });
}

}  // namespace rubato::cli
