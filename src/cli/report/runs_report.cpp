#include "cli/report/run_report.h"
#include "report/format.h"
#include "report/layout.h"

namespace rubato::cli {

using report::Amount;
using report::Array;
using report::command_line;
using report::Missing;
using report::Object;
using report::Table;
using report::text_of;
using report::Value;

Value runs_json(const std::vector<record::RunSummary>& runs, const std::set<std::filesystem::path>& running) {
  Array rows;
  for (const record::RunSummary& run : runs) {
    Array command;
    for (const std::string& argument : run.command) command.emplace_back(argument);
    rows.emplace_back(
        Object{{"run_id", run.run_id},
               {"mode", run.mode},
               {"command", std::move(command)},
               {"started_at", run.started_at},
               {"complete", run.duration.has_value()},
               {"running", running.contains(run.file)},
               {"duration_s", run.duration ? Value(Amount{run.duration->value(), "s"}) : Value(Missing{})},
               {"exit_status", exit_status_json(run.exit_code, run.exit_signal)},
               {"file", run.file.string()}});
  }
  return Object{{"schema", "rubato.runs/1"}, {"runs", std::move(rows)}};
}

std::string runs_text(const std::vector<record::RunSummary>& runs, const report::TextOptions& options,
                      const std::set<std::filesystem::path>& running) {
  if (runs.empty()) return "No runs yet. Start one: rubato measure -- COMMAND\n";
  Table table({{"run"}, {"mode"}, {"took", true}, {"ended"}, {"command"}});
  for (const record::RunSummary& run : runs) {
    std::string ended = running.contains(run.file) ? "running" : "cut short";
    if (run.exit_code)
      ended = "exit " + std::to_string(*run.exit_code);
    else if (run.exit_signal)
      ended = "signal " + std::to_string(*run.exit_signal);
    else if (run.duration)
      ended = run.command.empty() ? "-" : "not seen";
    table.add({run.run_id, run.mode, run.duration ? text_of(*run.duration) : "-", ended,
               command_line(run.command)});
  }
  return table.text(0, options);
}

}  // namespace rubato::cli
