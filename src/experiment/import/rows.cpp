#include "experiment/import/rows.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "core/csv_cells.h"
#include "experiment/import/collect.h"

namespace rubato::experiment {
namespace {

tl::unexpected<Error> bad(const std::string& file, std::size_t line, std::string_view what,
                          std::string hint = {}) {
  return fail(ErrorCode::invalid_argument, cat(place(file, line), ": ", what), std::move(hint));
}

std::string listed(std::span<const std::string_view> names) {
  std::string out;
  for (const std::string_view name : names) out += cat(out.empty() ? "" : ", ", name);
  return out;
}

Status check_header(const std::string& file, std::size_t line, const std::vector<std::string>& columns,
                    std::span<const std::string_view> needed) {
  for (const std::string_view name : needed) {
    const auto count = std::count(columns.begin(), columns.end(), name);
    if (count == 0)
      return bad(file, line, cat("column ", name, " is missing"), cat("this format has ", listed(needed)));
    if (count > 1) return bad(file, line, cat("column ", name, " stands there twice"));
  }
  return {};
}

}  // namespace

const std::string& CsvRow::cell(std::string_view column) const {
  const auto found = std::find(columns_->begin(), columns_->end(), column);
  return cells_[static_cast<std::size_t>(found - columns_->begin())];
}

Error CsvRow::wrong(std::string_view column, std::string_view what) const {
  return {ErrorCode::invalid_argument,
          cat(place(*file_, line_), ": column ", column, ": ", shown_cell(cell(column)), " ", what)};
}

Result<std::string> CsvRow::text(std::string_view column) const {
  const std::string value(trim(cell(column)));
  if (value.empty()) return fail(wrong(column, "is empty"));
  const bool clean =
      std::none_of(value.begin(), value.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  if (!clean) return fail(wrong(column, "has a control character"));
  return value;
}

Result<double> CsvRow::positive(std::string_view column) const {
  const auto value = parse_number(trim(cell(column)));
  if (!value) return fail(wrong(column, "is no number"));
  if (!std::isfinite(*value) || *value <= 0) return fail(wrong(column, "must be above zero"));
  return *value;
}

Status read_csv_rows(const std::string& file, std::string_view text, std::span<const std::string_view> needed,
                     CsvRows& into) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  std::size_t line = 0;
  while (!text.empty()) {
    ++line;
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view content = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (content.ends_with('\r')) content.remove_suffix(1);
    if (trim(content).empty()) continue;
    if (content.find('\0') != std::string_view::npos)
      return bad(file, line, "it has a NUL byte: this is no text file");
    auto cells = csv_cells(content);
    if (!cells) return bad(file, line, cells.error().what);
    if (into.columns.empty()) {
      for (const std::string& name : *cells) into.columns.emplace_back(trim(name));
      if (const Status fine = check_header(file, line, into.columns, needed); !fine) return fine;
      continue;
    }
    if (cells->size() != into.columns.size())
      return bad(file, line,
                 cat("it has ", cells->size(), " cells; the header has ", into.columns.size(), " columns"));
    into.rows.emplace_back(into.columns, std::move(*cells), file, line);
  }
  if (into.columns.empty())
    return fail(ErrorCode::invalid_argument, cat(file, ": there is no header line"),
                cat("this format has ", listed(needed)));
  if (into.rows.empty()) return fail(ErrorCode::invalid_argument, cat(file, ": there is no row of data"));
  return {};
}

}  // namespace rubato::experiment
