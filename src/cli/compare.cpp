#include "analyse/compare.h"

#include <unistd.h>

#include "cli/invocation.h"
#include "cli/print_run.h"
#include "cli/records.h"
#include "cli/report/compare_report.h"

namespace rubato::cli {
namespace {

struct Options {
  std::string a;
  std::string b = "last";
  std::string report_file;
};

Result<ReadRun> read(const std::string& name) {
  const auto file = find_record(name);
  if (!file) return fail(file.error());
  return read_summarised(*file);
}

int compare(Invocation& invocation, const Options& options) {
  const auto a = read(options.a);
  if (!a) return refuse(invocation, a.error(), 1);
  const auto b = read(options.b);
  if (!b) return refuse(invocation, b.error(), 1);
  const analyse::Side side_a{a->run, a->summary, a->running};
  const analyse::Side side_b{b->run, b->summary, b->running};
  const auto comparison = analyse::compare(side_a, side_b);
  const auto words = options.report_file.empty() ? text_options(STDOUT_FILENO) : report::TextOptions{};
  const std::string text = invocation.json ? report::render_json(compare_json(side_a, side_b, comparison))
                                           : compare_text(side_a, side_b, comparison, words);
  if (const auto written = write_report(text, options.report_file, STDOUT_FILENO); !written)
    return refuse(invocation, written.error(), 1);
  return 0;
}

}  // namespace

void add_compare(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand("compare", "two runs beside each other, and what tells them apart");
  static Options options;
  command
      ->add_option("a", options.a, "the run to compare with: an id, the beginning of one, or a record file")
      ->type_name("RUN")
      ->required();
  command->add_option("b", options.b, "the run to compare")->type_name("RUN")->capture_default_str();
  command->add_flag("--json", invocation.json, "machine-readable output (rubato.compare/1)");
  command->add_option("--report", options.report_file, "write to FILE instead of standard output")
      ->type_name("FILE");
  command->callback([&invocation] { compare(invocation, options); });
}

}  // namespace rubato::cli
