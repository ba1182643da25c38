#include "base/log.h"
#include "base/text.h"
#include "cli/caller.h"
#include "cli/guarding.h"
#include "cli/invocation.h"
#include "cli/stale.h"
#include "cli/wrap.h"
#include "govern/registry.h"

namespace rubato::cli {
namespace {

struct Options {
  WantedText wanted;
  bool dry_run = false;
  bool accept_unrestored = false;
  bool allow_shared = false;
  bool sudo = false;
  bool as_root = false;
  std::uint64_t seed = 1;
  std::string report_file;
};

constexpr std::string_view kNothingAsked =
    "nothing was asked to be set (--power-limit, --sm-clock), and this version has no governor that chooses "
    "by itself: "
    "measuring only, nothing is changed";

Result<std::unique_ptr<govern::Strategy>> strategy_for(const Options& options, const Wanted& wanted,
                                                       const std::string& why_not) {
  govern::StrategyRequest request;
  request.wanted = wanted.setting;
  request.found_clock_stated = wanted.found_sm_clock.has_value();
  request.reason = why_not;
  request.seed = options.seed;
  return govern::make_strategy(why_not.empty() ? "fixed" : "measure-only", request);
}

/// Empty where the setting may be made; else the sentence that the report and the terminal show.
std::string why_measure_only(const Options& options, const Wanted& wanted, const OpenGpus& open,
                             GuardedRun& guarded) {
  if (wanted.setting.empty()) return std::string(kNothingAsked);
  if (options.dry_run) return cat("dry run: would set ", describe(wanted.setting), "; nothing is changed");
  if (open.gpus.empty()) return "there is no GPU to set";
  if (!guarded.channel) return guarded.why_not.what;
  // Whoever starts the guard through sudo has its rights judged by the first real set.
  if (!guarded.more_rights_than_us) {
    if (const auto missing = missing_right(wanted, open.gpus)) {
      guarded.why_not = *missing;
      return missing->what;
    }
  }
  if (const auto lonely = nothing_outlives(*open.selection.backend, guarded.own_scope);
      lonely && !options.accept_unrestored) {
    guarded.why_not = *lonely;
    return lonely->what;
  }
  return {};
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

  // The order matters: guards before any driver call of ours, rights dropped before any file of ours.
  // Simulated GPUs are the user's own files, which root's guard would look for among root's.
  const bool simulated = names_simulated(invocation.gpu);
  const auto caller = options.as_root ? std::nullopt : caller_behind_sudo();
  if (caller && simulated)
    if (const auto became = become(*caller); !became) return refuse(invocation, became.error());
  put_back_stale(invocation.gpu);
  GuardedRun guarded;
  if (!wanted->setting.empty() && !options.dry_run)
    guarded = start_guard(invocation.gpu, {options.sudo && !simulated});
  if (guarded.fatal) return refuse(invocation, guarded.why_not);
  if (caller && !simulated) {
    if (const auto became = become(*caller); !became) return refuse(invocation, became.error());
    guarded.more_rights_than_us = true;
  }

  auto open = open_gpus_for_job(invocation);
  if (!open) return refuse(invocation, open.error());
  if (const auto fits = fit_to_gpus(*wanted, open->gpus); !fits) return refuse(invocation, fits.error());
  for (const auto& note : wanted->notes) log::warning(note);

  const std::string why_not = why_measure_only(options, *wanted, *open, guarded);
  if (!why_not.empty()) {
    const bool asked_for = wanted->setting.empty() || options.dry_run;
    if (asked_for)
      log::info(why_not);
    else
      log::warning(
          Error{guarded.why_not.code, cat(why_not, "; going on, measuring only"), guarded.why_not.hint});
    guarded.channel.reset();
  }

  WrapPlan plan;
  plan.mode = "run";
  auto strategy = strategy_for(options, *wanted, why_not);
  if (!strategy) return refuse(invocation, strategy.error());
  plan.strategy = std::move(*strategy);
  plan.wanted = *wanted;
  plan.guard = std::move(guarded.channel);
  plan.rescue = rescue_for(invocation.gpu);
  plan.allow_shared = options.allow_shared;
  plan.report_file = options.report_file;
  return wrap(invocation, std::move(plan), std::move(*open));
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
  command->add_option("--report", options.report_file, "write the report to FILE instead of standard error")
      ->type_name("FILE");
  command->footer("rubato run [OPTIONS] -- COMMAND");
  command->callback([&invocation] { run(invocation, options); });
}

}  // namespace rubato::cli
