#include <cerrno>
#include <csignal>

#include "base/log.h"
#include "base/text.h"
#include "cli/caller.h"
#include "cli/invocation.h"
#include "cli/stale.h"
#include "cli/wrap.h"
#include "govern/measure_only_strategy.h"

namespace rubato::cli {
namespace {

struct Options {
  double seconds = 0;
  int pid = 0;
  std::string report_file;
  bool as_root = false;
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
  if (options.pid > 0 && kill(options.pid, 0) != 0 && errno == ESRCH) {
    return refuse(invocation,
                  Error{ErrorCode::not_found, cat("there is no process ", options.pid), "ps lists them"});
  }
  put_back_stale(invocation.gpu);
  if (const auto caller = caller_behind_sudo(); caller && !options.as_root)
    if (const auto became = become(*caller); !became) return refuse(invocation, became.error());

  auto open = open_gpus_for_job(invocation);
  if (!open) return refuse(invocation, open.error());
  WrapPlan plan;
  plan.mode = "measure";
  plan.strategy = std::make_unique<govern::MeasureOnlyStrategy>("measuring only, as asked: nothing is set");
  if (options.seconds > 0) plan.seconds = Seconds(options.seconds);
  if (options.pid > 0) plan.pid = static_cast<pid_t>(options.pid);
  plan.report_file = options.report_file;
  return wrap(invocation, std::move(plan), std::move(*open));
}

}  // namespace

void add_measure(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand("measure", "measure a command's GPU energy; set nothing");
  static Options options;
  add_common(*command, invocation);
  command->add_option("--seconds", options.seconds, "measure for this long, without a command")
      ->check(CLI::PositiveNumber);
  command->add_option("--pid", options.pid, "measure until this process ends, without a command")
      ->check(CLI::PositiveNumber);
  command->add_option("--report", options.report_file, "write the report to FILE instead of standard error")
      ->type_name("FILE");
  command->add_flag("--as-root", options.as_root,
                    "under sudo: stay root instead of becoming the caller again");
  command->footer("rubato measure [OPTIONS] -- COMMAND");
  command->callback([&invocation] { measure(invocation, options); });
}

}  // namespace rubato::cli
