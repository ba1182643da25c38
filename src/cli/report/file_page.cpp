#include "cli/report/file_page.h"

#include <array>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "core/sweep_table_csv.h"
#include "core/sweep_workloads.h"
#include "report/layout.h"
#include "report/render.h"

namespace rubato::cli {
namespace {

using report::Amount;
using report::Array;
using report::Missing;
using report::Object;
using report::Value;

constexpr std::array<std::string_view, 3> kSchemas = {"rubato.sweep/1", "rubato.validate/1", "rubato.lab/1"};
constexpr std::string_view kRecordBegins = "SQLite format 3";
constexpr std::uintmax_t kMost = 256U << 20U;  // bytes of a document

tl::unexpected<Error> no_page(const std::string& file, const std::string& why) {
  return fail(
      ErrorCode::invalid_argument, cat(file, ": ", why),
      "a page is made of a run, a sweep table, and of what `sweep`, `model validate` and `lab run` print "
      "with --json");
}

Value known(const auto& quantity) {
  return quantity ? Value(Amount{quantity->value(), ""}) : Value(Missing{"not set"});
}

Status write_page(report::Sink& to, const std::string& title, const std::string& document) {
  report::HtmlPage page(to);
  if (const Status begun = page.begin(report::cut(title, 80), document); !begun) return begun;
  return page.end();
}

Object row_json(const SweepRow& row, const SweepRow& by_default, bool is_default) {
  const auto over = [](double value, double of) { return Object{{"value", Amount{value / of, ""}}}; };
  return Object{{"setting", Object{{"power_limit_w", known(row.power_limit)},
                                   {"sm_clock_mhz", known(row.sm_clock)},
                                   {"memory_clock_mhz", known(row.memory_clock)}}},
                {"default", is_default},
                {"time_s", Amount{row.time.value(), "s"}},
                {"energy_j", Amount{row.energy.value(), "J"}},
                {"power_w", Amount{row.power.value(), "W"}},
                {"time_over_default", over(row.time.value(), by_default.time.value())},
                {"energy_over_default", over(row.energy.value(), by_default.energy.value())}};
}

}  // namespace

Result<PageSource> page_source(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string begin(64, '\0');
  in.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  if (in.bad() || (!in && !in.eof())) return fail(from_errno(errno, cat("cannot read ", file.string())));
  begin.resize(static_cast<std::size_t>(in.gcount()));
  if (begin.starts_with(kRecordBegins)) return PageSource::record;
  return trim(begin).starts_with('{') ? PageSource::document : PageSource::table;
}

Status write_document_page(const std::filesystem::path& file, const std::string& version, report::Sink& to) {
  std::error_code ignored;
  if (std::filesystem::file_size(file, ignored) > kMost) return no_page(file.string(), "larger than 256 MiB");
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  if (in.bad()) return fail(from_errno(errno, cat("cannot read ", file.string())));
  return write_document_page(text, file.filename().string(), version, to);
}

Status write_document_page(std::string_view text, const std::string& name, const std::string& version,
                           report::Sink& to) {
  const auto document = nlohmann::ordered_json::parse(text, nullptr, false);
  if (document.is_discarded() || !document.is_object()) return no_page(name, "this is no JSON document");
  const auto schema = document.find("schema");
  const std::string named =
      schema != document.end() && schema->is_string() ? schema->get<std::string>() : std::string("none");
  if (std::find(kSchemas.begin(), kSchemas.end(), named) == kSchemas.end())
    return no_page(name, cat("there is no page for the schema ", report::cut(named, 60)));
  const nlohmann::ordered_json page = {{"schema", "rubato.page/1"},
                                       {"rubato_version", version},
                                       {"report", document},
                                       {"series", nlohmann::json::array()}};
  return write_page(to, cat(named, " ", name),
                    page.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

Status write_table_page(const std::filesystem::path& file, const std::string& version, report::Sink& to) {
  const auto table = read_sweep_table(file);
  if (!table) return fail(table.error());
  const auto workloads = workloads_of(*table);
  if (!workloads) return fail(workloads.error());
  Array out;
  for (const std::size_t at : workloads_distinct(*table, *workloads)) {
    const SweepWorkload& workload = (*workloads)[at];
    const SweepRow& by_default = table->rows[workload.default_row];
    Array settings;
    for (const std::size_t row : workload.rows)
      settings.emplace_back(row_json(table->rows[row], by_default, row == workload.default_row));
    out.emplace_back(Object{{"gpu", workload.gpu},
                            {"workload", workload.workload},
                            {"default_assumed", workload.default_assumed},
                            {"settings", std::move(settings)}});
  }
  return write_page(to, cat("sweep table ", file.filename().string()),
                    report::render_json_line(Object{{"schema", "rubato.page/1"},
                                                    {"rubato_version", version},
                                                    {"report", Object{{"schema", "rubato.sweep_table/1"},
                                                                      {"file", file.filename().string()},
                                                                      {"rows", table->rows.size()},
                                                                      {"workloads", std::move(out)}}},
                                                    {"series", Array{}}}));
}

}  // namespace rubato::cli
