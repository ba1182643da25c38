#include "analyse/compare.h"

#include <unistd.h>

#include "cli/invocation.h"
#include "cli/output_file.h"
#include "cli/print_run.h"
#include "cli/records.h"
#include "cli/report/compare_report.h"
#include "cli/report/run_page.h"

namespace rubato::cli {
namespace {

struct Options {
  std::string a;
  std::string b = "last";
  std::string report_file;
  std::string format = "text";
  std::string output = "-";
  bool force = false;
};

Result<ReadRun> read(const std::string& name) {
  const auto file = find_record(name);
  if (!file) return fail(file.error());
  return read_summarised(*file);
}

int write_html(Invocation& invocation, const Options& options, const analyse::Side& a, const analyse::Side& b,
               const analyse::Comparison& comparison) {
  const bool reported = !options.report_file.empty();
  auto out = OutputFile::open(reported ? options.report_file : options.output, reported || options.force);
  if (!out) return refuse(invocation, out.error(), out.error().code == ErrorCode::conflict ? kRefused : 1);
  if (const Status written = write_compare_page(a, b, comparison, *out); !written)
    return refuse(invocation, written.error(), 1);
  if (const Status finished = out->finish(); !finished) return refuse(invocation, finished.error(), 1);
  return 0;
}

int compare(Invocation& invocation, const Options& options) {
  const bool page = is_page(options.report_file) && !invocation.json;
  const bool html = options.format == "html" || page;
  if (html && (invocation.json || (!options.report_file.empty() && !page)))
    return refuse(invocation, Error{ErrorCode::invalid_argument,
                                    "--format html goes with -o FILE or --report FILE.html, not with --json",
                                    {}});
  if (!html && options.output != "-")
    return refuse(invocation, Error{ErrorCode::invalid_argument, "-o is for --format html",
                                    "text and JSON go to a file with --report FILE"});
  const auto a = read(options.a);
  if (!a) return refuse(invocation, a.error(), 1);
  const auto b = read(options.b);
  if (!b) return refuse(invocation, b.error(), 1);
  const analyse::Side side_a{a->run, a->summary, a->running};
  const analyse::Side side_b{b->run, b->summary, b->running};
  const auto comparison = analyse::compare(side_a, side_b);
  if (html) return write_html(invocation, options, side_a, side_b, comparison);
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
  command
      ->add_option("--report", options.report_file,
                   "write to FILE (FILE.html: a page with charts) instead of standard output")
      ->type_name("FILE");
  command->add_option("--format", options.format, "text, or html: a page with charts")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"text", "html"}))
      ->capture_default_str();
  command->add_option("--output,-o", options.output, "where the page goes, - for standard output")
      ->type_name("FILE")
      ->capture_default_str();
  command->add_flag("--force", options.force, "replace FILE where it is there");
  command->callback([&invocation] { compare(invocation, options); });
}

}  // namespace rubato::cli
