#include <fmt/format.h>
#include <unistd.h>

#include "base/log.h"
#include "base/text.h"
#include "cli/caller.h"
#include "cli/invocation.h"
#include "cli/print_run.h"
#include "cli/report/run_report.h"
#include "record/live.h"
#include "record/reader.h"
#include "record/writer.h"

namespace rubato::cli {
namespace {

void runs(Invocation& invocation, bool ids) {
  // Under sudo the runs are the caller's.
  if (const auto dropped = drop_to_caller(); !dropped) {
    refuse(invocation, dropped.error(), 1);
    return;
  }
  const auto directory = record::default_directory();
  if (!directory) {
    refuse(invocation, directory.error(), 1);
    return;
  }
  std::vector<std::filesystem::path> unreadable;
  const auto listed = record::list_runs(*directory, &unreadable);
  if (!listed) {
    refuse(invocation, listed.error(), 1);
    return;
  }
  for (const auto& file : unreadable)
    log::warning(
        Error{ErrorCode::corrupt, cat(file.string(), " cannot be read"), cat("rubato show ", file.string())});
  std::set<std::filesystem::path> running;
  for (const auto& run : *listed)
    if (!run.duration && record::still_written(run.file)) running.insert(run.file);
  if (ids)
    for (const auto& run : *listed) fmt::print("{}\n", run.run_id);
  else
    fmt::print("{}", invocation.json ? report::render_json(runs_json(*listed, running))
                                     : runs_text(*listed, text_options(STDOUT_FILENO), running));
}

}  // namespace

void add_runs(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand("runs", "the runs recorded so far");
  command->add_flag("--json", invocation.json, "machine-readable output (rubato.runs/1)");
  static bool ids = false;
  command->add_flag("--ids", ids, "only the ids, one in a line");
  command->callback([&invocation] { runs(invocation, ids); });
}

}  // namespace rubato::cli
