#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

#include "base/log.h"
#include "base/standard_streams.h"
#include "base/text.h"
#include "cli/build.h"
#include "cli/invocation.h"
#include "cli/print_run.h"
#include "cli/top.h"
#include "cli/words/explain.h"
#include "cli/words/help.h"
#include "conduct/job.h"

namespace rubato::cli {
namespace {

// As `rubato --help` lists them.
constexpr std::array kCommands = {&add_devices,    &add_doctor,  &add_measure,   &add_run,
                                  &add_advise,     &add_sweep,   &add_top,       &add_runs,
                                  &add_show,       &add_compare, &add_export,    &add_period,
                                  &add_windows,    &add_model,   &add_lab,       &add_layers,
                                  &add_pipeline,   &add_latency, &add_calibrate, &add_calibrate_meter,
                                  &add_evidence,   &add_import,  &add_restore,   &add_sim,
                                  &add_completion, &add_help};

/// Wrong by itself, found when the options of a command are read and before it starts.
struct WrongUse {
  Error error;
};

// CLI11 would read options of the user's command as ours: it never gets to see them.
int split_at_separator(int argc, char** argv, Typed& typed) {
  const auto separator = std::find(argv + 1, argv + argc, std::string_view("--"));
  typed.separated = separator != argv + argc;
  if (typed.separated) typed.command.assign(separator + 1, argv + argc);
  if (argc > 0) typed.words.assign(argv + 1, separator);
  return static_cast<int>(separator - argv);
}

/// Help on a command that there is not: it would be that of what stands before it.
bool names_no_command(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  if (!chosen.empty()) return names_no_command(*chosen.front());
  return !app.get_subcommands([](const CLI::App*) { return true; }).empty() && !app.remaining().empty();
}

/// As `--power-limit "$WATTS"` gives where nobody set WATTS: not the same as if it had been left out.
void refuse_empty_values(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional() || option->count() == 0) continue;
    const auto& values = option->results();
    if (std::find(values.begin(), values.end(), "") == values.end()) continue;
    throw WrongUse{Error{ErrorCode::invalid_argument, cat(option->get_name(), ": no value is given"),
                         "is a variable empty? leave the option out where nothing is meant"}};
  }
}

int run(int argc, char** argv) {
  Typed typed;
  const int own = split_at_separator(argc, argv, typed);
  Invocation invocation;
  invocation.command = typed.command;
  invocation.separated = typed.separated;

  CLI::App app("lowers the energy of GPU training inside a slowdown bound you choose", "rubato");
  app.formatter(help_formatter(text_options(STDOUT_FILENO).width));
  app.set_help_flag("-h,--help", "this page");
  app.set_version_flag("--version", build_text(), "the version and how it was built");
  app.require_subcommand(1);
  for (const auto add : kCommands) add(app, invocation);
  try {
    app.parse(own, argv);
  } catch (const WrongUse& wrong) {
    return refuse(invocation, wrong.error);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0 || names_no_command(app))
      return refuse(invocation, explain(app, typed, error.what()));
    app.exit(error);
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    return refuse(
        invocation,
        Error{ErrorCode::io, "the output could not be written: its reader is gone, or the disk is full", {}},
        1);
  return invocation.status;
}

}  // namespace

void add_common(CLI::App& command, Invocation& invocation) {
  command.add_option("--gpu", invocation.gpu, "which GPUs: 0,1 or UUIDs or sim:v100 (default: all)")
      ->type_name("LIST");
  command.add_flag("--json", invocation.json, "machine-readable output");
  command.add_flag("--quiet,-q", invocation.quiet, "errors only");
  command.add_flag("--verbose,-v", invocation.verbose, "more words");
  command.parse_complete_callback([&invocation, &command] {
    refuse_empty_values(command);
    if (invocation.verbose > 0) log::set_level(log::Level::debug);
    if (invocation.quiet) log::set_level(log::Level::error);
    const CLI::Option* report = command.get_option_no_throw("--report");
    if (report == nullptr || report->count() == 0) return;
    if (const Status fine = check_report_target(report->as<std::string>()); !fine)
      throw WrongUse{fine.error()};
  });
}

int refuse(Invocation& invocation, const Error& error, int status) {
  log::error(error);
  return invocation.status = status;
}

}  // namespace rubato::cli

int main(int argc, char** argv) {
  rubato::keep_standard_streams();
  rubato::conduct::remember_signals();
  if (argc > 1 && std::string_view(argv[1]) == "guard") return rubato::cli::guard_main(argc, argv);
  if (argc > 1 && std::string_view(argv[1]) == "calibrate-kernel")
    return rubato::cli::calibrate_kernel_main(argc, argv);
  return rubato::cli::run(argc, argv);
}
