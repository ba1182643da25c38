#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

#include "base/log.h"
#include "cli/invocation.h"
#include "cli/version.h"
#include "conduct/job.h"

namespace rubato::cli {
namespace {

constexpr std::array kCommands = {&add_devices, &add_doctor, &add_measure, &add_run,
                                  &add_runs,    &add_show,   &add_restore, &add_sim};

// CLI11 would read options of the user's command as ours: it never gets to see them.
int split_at_separator(int argc, char** argv, Invocation& invocation) {
  const auto separator = std::find(argv + 1, argv + argc, std::string_view("--"));
  invocation.separated = separator != argv + argc;
  if (invocation.separated) invocation.command.assign(separator + 1, argv + argc);
  return static_cast<int>(separator - argv);
}

int run(int argc, char** argv) {
  Invocation invocation;
  const int own = split_at_separator(argc, argv, invocation);

  CLI::App app("Lowers the energy of GPU training inside a slowdown bound you choose.", "rubato");
  app.set_version_flag("--version", std::string(kVersion));
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  for (const auto add : kCommands) add(app, invocation);
  try {
    app.parse(own, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kRefused;
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    return refuse(invocation, Error{ErrorCode::io, "the output could not be written: is the disk full?", {}},
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
  command.parse_complete_callback([&invocation] {
    if (invocation.verbose > 0) log::set_level(log::Level::debug);
    if (invocation.quiet) log::set_level(log::Level::error);
  });
}

int refuse(Invocation& invocation, const Error& error, int status) {
  log::error(error);
  return invocation.status = status;
}

}  // namespace rubato::cli

int main(int argc, char** argv) {
  rubato::conduct::remember_signals();
  if (argc > 1 && std::string_view(argv[1]) == "guard") return rubato::cli::guard_main(argc, argv);
  return rubato::cli::run(argc, argv);
}
