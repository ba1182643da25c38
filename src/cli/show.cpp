#include <fmt/format.h>
#include <unistd.h>

#include "cli/invocation.h"
#include "cli/print_run.h"
#include "cli/records.h"

namespace rubato::cli {
namespace {

void show(Invocation& invocation, const std::string& name) {
  const auto file = find_record(name);
  if (!file) {
    refuse(invocation, file.error(), 1);
    return;
  }
  const auto report = run_report(*file, invocation.json, text_options(STDOUT_FILENO));
  if (!report) {
    refuse(invocation, report.error(), 1);
    return;
  }
  fmt::print("{}", *report);
}

}  // namespace

void add_show(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand("show", "the report of one run");
  static std::string name = "last";
  command->add_option("run", name, "a run id, the beginning of one, `last`, or a record file")
      ->type_name("RUN")
      ->capture_default_str();
  command->add_flag("--json", invocation.json, "machine-readable output (rubato.run/1)");
  command->callback([&invocation] { show(invocation, name); });
}

}  // namespace rubato::cli
