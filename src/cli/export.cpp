#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "cli/factor_options.h"
#include "cli/invocation.h"
#include "cli/output_file.h"
#include "cli/progress_line.h"
#include "cli/records.h"
#include "cli/report/emissions.h"
#include "cli/report/file_page.h"
#include "cli/report/run_page.h"
#include "cli/report/run_report.h"
#include "cli/report/series.h"
#include "cli/report/trace.h"
#include "cli/report/window_rows.h"
#include "cli/version.h"
#include "report/render.h"

namespace rubato::cli {
namespace {

constexpr std::array kAll = {Series::samples,    Series::meters,     Series::marks,     Series::kernels,
                             Series::iterations, Series::statements, Series::rates,     Series::shifts,
                             Series::features,   Series::blocks,     Series::decisions, Series::expectations};

constexpr std::string_view kWindows = "windows";

// Rows that are written before anybody wonders.
constexpr std::size_t kWaitedFor = 200'000;

struct Options {
  std::string run = "last";
  std::string format;
  std::string what;
  std::string output = "-";
  bool force = false;
  FactorOptions factors;
};

Status write_facts(const SeriesReader& reader, report::Sink& to) {
  const auto facts = reader.facts();
  if (!facts) return fail(facts.error());
  for (const std::string& fact : *facts)
    if (const Status line = to.write(cat("# ", fact, "\n")); !line) return line;
  return {};
}

Status write_csv(const SeriesReader& reader, Series series, report::Sink& to) {
  if (const Status facts = write_facts(reader, to); !facts) return facts;
  const auto rows = reader.rows(series);
  return rows ? report::write_csv(**rows, to) : fail(rows.error());
}

// The report needs the record as a whole, like `show`; it is forgotten before the series are read.
Result<std::string> report_of(const std::filesystem::path& file) {
  const auto read = read_summarised(file);
  if (!read) return fail(read.error());
  return report::render_json(run_report_json(read->run, read->summary, read->running));
}

Status write_json(const SeriesReader& reader, const std::string& report, std::span<const Series> which,
                  report::Sink& to) {
  if (const Status head =
          to.write(cat("{\"schema\": \"rubato.export/1\",\n\"run\": ", trim(report), ",\n\"series\": {"));
      !head)
    return head;
  std::string_view between = "\n";
  for (const Series series : which) {
    if (const Status key = to.write(cat(between, "\"", name_of(series), "\": ")); !key) return key;
    const auto rows = reader.rows(series);
    if (!rows) return fail(rows.error());
    if (const Status body = report::write_json(**rows, to); !body) return body;
    between = ",\n";
  }
  return to.write("}}\n");
}

/// The series that `what` names; all of them where it names none.
std::vector<Series> asked_for(const std::string& what) {
  std::vector<Series> which;
  for (const Series series : kAll)
    if (what.empty() || what == name_of(series)) which.push_back(series);
  return which;
}

/// The rows of all of these series together.
void tell_progress(SeriesReader& reader, std::span<const Series> which, ProgressLine& line) {
  std::size_t all = 0;
  for (const Series series : which) all += reader.rows_about(series);
  if (all < kWaitedFor) return;
  reader.watch([&line, all, done = std::size_t{0}](std::size_t rows) mutable {
    done += rows;
    // More may come than were counted: the run goes on, or rows of two kinds are none together.
    line.show(std::min(done, all), all, "rows");
  });
}

Status write_html(const std::filesystem::path& file, const Options& options, report::Sink& to,
                  ProgressLine& line) {
  const auto source = page_source(file);
  if (!source) return fail(source.error());
  if (*source == PageSource::document) return write_document_page(file, std::string(kVersion), to);
  if (*source == PageSource::table) return write_table_page(file, std::string(kVersion), to);
  line.show(0, 2, "steps: reading the record");
  const auto read = read_summarised(file);
  if (!read) return fail(read.error());
  const auto factors = options.factors.factors();
  if (!factors) return fail(factors.error());
  // Reading takes about as long as packing does.
  return write_run_page({read->run, read->summary, read->running}, *factors, to,
                        [&line](std::size_t done, std::size_t all) {
                          line.show(all + done, 2 * all, "steps: packing its series");
                        });
}

// What windows used is worked out of the whole record, and is no series of it.
Status write_windows_csv(const std::filesystem::path& file, report::Sink& to) {
  {
    const auto reader = SeriesReader::open(file);
    if (!reader) return fail(reader.error());
    if (const Status facts = write_facts(*reader, to); !facts) return facts;
  }
  const auto read = read_summarised(file);
  if (!read) return fail(read.error());
  return write_windows(read->summary, to);
}

Status write_as(const std::filesystem::path& file, const Options& options, report::Sink& to,
                ProgressLine& line) {
  if (options.format == "emissions") {
    const auto read = read_summarised(file);
    if (!read) return fail(read.error());
    const auto factors = options.factors.factors();
    if (!factors) return fail(factors.error());
    return write_emissions(read->run, read->summary, factors->co2, to);
  }
  if (options.format == "html") return write_html(file, options, to, line);
  if (options.what == kWindows) return write_windows_csv(file, to);
  std::string report;
  if (options.format == "json") {
    auto whole = report_of(file);
    if (!whole) return fail(whole.error());
    report = std::move(*whole);
  }
  auto reader = SeriesReader::open(file);
  if (!reader) return fail(reader.error());
  const bool one = options.format == "csv";
  const std::vector<Series> which =
      one && options.what.empty() ? std::vector{Series::samples} : asked_for(options.what);
  tell_progress(*reader, which, line);
  if (options.format == "perfetto") return write_trace(*reader, to);
  if (options.format == "json") return write_json(*reader, report, which, to);
  return write_csv(*reader, which.front(), to);
}

int run_export(Invocation& invocation, const Options& options) {
  const bool series = options.format == "csv" || options.format == "json";
  if (!options.what.empty() && !series)
    return refuse(invocation, Error{ErrorCode::invalid_argument,
                                    cat("--what chooses a series; ", options.format, " has all it can show"),
                                    {}});
  if (options.what == kWindows && options.format == "json")
    return refuse(invocation, Error{ErrorCode::invalid_argument,
                                    "--what windows is for --format csv: JSON has them in run.windows",
                                    "leave --what out, or rubato show RUN --json"});
  if (options.factors.co2 && options.format != "emissions" && options.format != "html")
    return refuse(invocation,
                  Error{ErrorCode::invalid_argument, "--co2 is for --format emissions and html", {}});
  const auto file = find_record(options.run);
  if (!file) return refuse(invocation, file.error(), 1);
  auto out = OutputFile::open(options.output, options.force);
  if (!out) return refuse(invocation, out.error(), out.error().code == ErrorCode::conflict ? kRefused : 1);
  // Between lines of the output itself it would only be in the way.
  ProgressLine line(invocation.quiet || (options.output == "-" && isatty(STDOUT_FILENO) == 1));
  if (const Status written = write_as(*file, options, *out, line); !written)
    return refuse(invocation, written.error(), 1);
  if (const Status finished = out->finish(); !finished) return refuse(invocation, finished.error(), 1);
  return 0;
}

}  // namespace

void add_export(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand(
      "export",
      "a run for people and other programs: an HTML report, CSV, JSON, a Perfetto trace, emissions.csv");
  static Options options;
  command
      ->add_option("run", options.run,
                   "a run id, the beginning of one, `last`, or a record file; for html also a sweep table "
                   "or JSON")
      ->type_name("RUN")
      ->capture_default_str();
  command
      ->add_option("--format", options.format,
                   "csv: one series; json: the report and the series; perfetto: a trace for "
                   "ui.perfetto.dev; emissions: one row in CodeCarbon's columns; html: the report as a page, "
                   "also of a sweep table and of what sweep, model validate and lab run print with --json")
      ->type_name("FORMAT")
      ->required()
      ->check(CLI::IsMember({"csv", "json", "perfetto", "emissions", "html"}));
  command
      ->add_option(
          "--what", options.what,
          "which series (default: samples in CSV, all of them in JSON); in CSV also windows: what each "
          "window and epoch used")
      ->type_name("SERIES")
      ->check(CLI::IsMember({"samples", "meters", "marks", "kernels", "iterations", "statements", "rates",
                             "shifts", "features", "blocks", "decisions", "expectations", "windows"}));
  command->add_option("--output,-o", options.output, "where to, - for standard output")
      ->type_name("FILE")
      ->capture_default_str();
  add_factor_options(*command, options.factors);
  command->add_flag("--force", options.force, "replace FILE where it is there");
  command->callback([&invocation] { run_export(invocation, options); });
}

}  // namespace rubato::cli
