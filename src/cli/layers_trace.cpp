#include <algorithm>

#include "base/log.h"
#include "base/text.h"
#include "cli/calibrate_child.h"
#include "cli/caller.h"
#include "cli/guarding.h"
#include "cli/hooks.h"
#include "cli/hooks_reach.h"
#include "cli/layer_traces.h"
#include "cli/layers.h"
#include "cli/output_file.h"
#include "cli/run_files.h"
#include "cli/traced_job.h"
#include "conduct/job.h"
#include "conduct/live_driver.h"
#include "conduct/ownership.h"

namespace rubato::cli {
namespace {

struct Options {
  std::string output = "network.json";
  unsigned after = 0;
  bool keep_running = false;
  bool force = false;
};

/// Before anything is started: what keeps hooks out of this command.
Status can_be_traced(const Invocation& invocation, const HookPlan& hooks) {
  if (invocation.command.empty())
    return fail(ErrorCode::invalid_argument, "no command to trace",
                "rubato layers trace -o network.json -- python3 train.py");
  if (const auto reach = hooks_reach(invocation.command); reach.why_not)
    return fail(ErrorCode::invalid_argument, cat("cannot trace this command: ", *reach.why_not),
                "docs/hooks.md#when-hooks-cannot-be-active");
  if (!hooks.not_installed.empty()) return fail(ErrorCode::unavailable, hooks.not_installed);
  if (hooks.environment.empty())
    return fail(ErrorCode::invalid_argument, "RUBATO_HOOKS=off keeps the hooks out that would trace it",
                "unset RUBATO_HOOKS");
  return {};
}

int status_of(const TracedEnd& end) {
  if (end.by_us || !end.status.ended()) return 0;
  return end.status.state == conduct::JobStatus::State::killed ? 128 + end.status.signal : end.status.code;
}

void tell(const Options& options, const TracedEnd& end, const TracedNetwork& network) {
  log::info(cat(options.output, ": ", network.summary, " (", network.source, ")"));
  for (const std::string& note : network.notes) log::info(note);
  if (!network.dynamic.empty()) {
    std::string named;
    for (std::size_t i = 0; i < std::min<std::size_t>(3, network.dynamic.size()); ++i)
      named += cat(named.empty() ? "" : ", ", network.dynamic[i]);
    log::warning(
        Error{ErrorCode::invalid_argument,
              cat(network.dynamic.size(), " of the layers have shapes that change between iterations (",
                  named, "): what they ask for is not one number"),
              "train on samples of one size, padded or cropped, for the trace"});
  }
  if (end.by_us) log::info("the job was ended: enough was seen (--keep-running lets it go on)");
}

int trace(Invocation& invocation, const Options& options) {
  if (const Status dropped = drop_to_caller(); !dropped) return refuse(invocation, dropped.error());
  const HookPlan hooks = plan_hooks({}, invocation.command, environment_map(), own_program());
  if (const Status fine = can_be_traced(invocation, hooks); !fine) return refuse(invocation, fine.error());
  auto out = OutputFile::open(options.output, options.force);
  if (!out) return refuse(invocation, out.error());
  const std::string run_id = describe_run("trace", invocation.command).run_id;
  const auto folder = MarkFolder::create(run_id);
  if (!folder) return refuse(invocation, folder.error());

  auto environment = hooks.environment;
  environment.emplace_back(conduct::kRunIdVariable, run_id);
  environment.emplace_back("RUBATO_MARKS", folder->path().string());
  environment.emplace_back("RUBATO_LAYERS", folder->path().string());
  environment.emplace_back("RUBATO_LAYERS_AFTER", std::to_string(options.after));
  conduct::take_signals();
  auto job = conduct::Job::start(invocation.command, environment);
  if (!job) return refuse(invocation, job.error().error, job.error().exit_code);
  const TracedEnd end =
      run_until(*job, run_id, [&] { return !options.keep_running && enough_came(folder->path()); });
  invocation.status = status_of(end);

  const auto network = traced_network(folder->path());
  if (!network) return refuse(invocation, network.error(), std::max(invocation.status, 1));
  Status written = out->write(network->file);
  if (written) written = out->finish();
  if (!written) return refuse(invocation, written.error(), std::max(invocation.status, 1));
  tell(options, end, *network);
  return invocation.status;
}

}  // namespace

void add_layers_trace(CLI::App& group, Invocation& invocation) {
  auto* command = group.add_subcommand(
      "trace", "the layers of a PyTorch or Keras training, from its first iterations; needs no GPU");
  static Options options;
  command->add_option("--output,-o", options.output, "where to (rubato.network/1), - for standard output")
      ->type_name("FILE")
      ->capture_default_str();
  command->add_flag("--force", options.force, "replace FILE where it is there");
  command->add_option("--after", options.after, "iterations to let pass before the three that are looked at")
      ->type_name("N")
      ->capture_default_str();
  command->add_flag("--keep-running", options.keep_running, "do not end the job when enough was seen");
  command->callback([&invocation] { trace(invocation, options); });
}

}  // namespace rubato::cli
