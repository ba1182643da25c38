#include <optional>

#include "base/log.h"
#include "base/text.h"
#include "cli/attach.h"
#include "cli/caller.h"
#include "cli/invocation.h"
#include "cli/job_gpus.h"
#include "cli/job_options.h"
#include "cli/no_nan.h"
#include "cli/print_run.h"
#include "cli/ranks.h"
#include "cli/run_files.h"
#include "cli/stale.h"
#include "cli/wrap.h"
#include "conduct/patience.h"
#include "govern/measure_only_strategy.h"

namespace rubato::cli {
namespace {

struct Options {
  double seconds = 0;
  int pid = 0;
  std::optional<std::string> report_file;
  bool as_root = false;
  JobOptions job;
};

int measure(Invocation& invocation, const Options& options) {
  const bool with_command = !invocation.command.empty();
  if (invocation.separated && !with_command)
    return refuse(invocation, Error{ErrorCode::invalid_argument, "no command stands behind --",
                                    "rubato measure -- python3 train.py"});
  if (!with_command && options.seconds <= 0 && options.pid <= 0) {
    return refuse(invocation,
                  Error{ErrorCode::invalid_argument, "nothing to measure: no command, no --seconds, no --pid",
                        "rubato measure -- python3 train.py, or rubato measure --seconds 10"});
  }
  if (with_command && (options.seconds > 0 || options.pid > 0)) {
    return refuse(
        invocation,
        Error{ErrorCode::invalid_argument, "--seconds and --pid are for measuring without a command", {}});
  }
  if (!with_command && options.job.kernels)
    return refuse(invocation,
                  Error{ErrorCode::invalid_argument,
                        "--kernels records inside a command that rubato starts, and there is none",
                        "rubato measure --kernels CYCLE -- COMMAND"});
  const auto counters = wanted_counters(options.job.counters);
  if (!counters) return refuse(invocation, counters.error());
  put_back_stale(invocation.gpu);
  if (!options.as_root)
    if (const auto dropped = drop_to_caller(); !dropped) return refuse(invocation, dropped.error());
  if (options.report_file)
    if (const auto fine = check_report_target(*options.report_file); !fine)
      return refuse(invocation, fine.error());

  auto open = open_gpus_for_job(invocation);
  if (!open) return refuse(invocation, open.error());
  if (options.pid > 0) keep_used_by(*open, options.pid, !invocation.gpu.empty());
  // Without a command there is nothing else to do here.
  if (open->driver_stuck && !with_command) conduct::leave_now(refuse(invocation, conduct::stands_still(), 1));
  WrapPlan plan;
  plan.info = describe_run("measure", invocation.command);
  if (options.pid > 0)
    if (const auto fine = attach(plan, options.pid); !fine) return refuse(invocation, fine.error());
  plan.strategy = std::make_unique<govern::MeasureOnlyStrategy>("measuring only, as asked: nothing is set");
  Ranks ranks = Ranks::of_this_process(false);
  if (with_command && ranks.may_follow()) {
    std::vector<std::string> uuids;
    for (const auto& gpu : open->gpus) uuids.push_back(gpu->identity().id.uuid);
    ranks.elect(std::move(uuids), plan.info.run_id);
    if (ranks.follows()) {
      log::debug(ranks.in_words());
      plan.leader = ranks.leadership().leader->run_id;
    } else {
      keep_only(*open, ranks.leadership().uuids);
    }
    plan.group = ranks.group();
  }
  if (options.seconds > 0) plan.seconds = Seconds(options.seconds);
  plan.report_file = options.report_file.value_or("");
  plan.meters = options.job.meters;
  plan.hooks = options.job.hooks();
  plan.counters = *counters;
  return wrap(invocation, std::move(plan), std::move(*open));
}

}  // namespace

void add_measure(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand("measure", "measure a command's GPU energy; set nothing");
  static Options options;
  add_common(*command, invocation);
  command
      ->add_option("--seconds", options.seconds,
                   "measure for this long, without a command; with --pid: at most")
      ->check(CLI::PositiveNumber)
      ->check(no_nan());
  command
      ->add_option("--pid", options.pid,
                   "measure until this process ends, without a command; with --seconds: whichever is first")
      ->check(CLI::PositiveNumber);
  command
      ->add_option(
          "--report", options.report_file,
          "write the report to FILE (FILE.html: a page with charts; or fd:N) instead of the terminal")
      ->type_name("FILE");
  command->add_flag("--as-root", options.as_root,
                    "under sudo: stay root instead of becoming the caller again");
  add_job_options(*command, options.job);
  command->footer("rubato measure [OPTIONS] -- COMMAND");
  command->callback([&invocation] { measure(invocation, options); });
}

}  // namespace rubato::cli
