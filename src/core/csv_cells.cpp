#include "core/csv_cells.h"

#include <algorithm>

namespace rubato {
namespace {

/// Takes a cell that begins with a quote; `line` then begins behind its closing quote.
Result<std::string> take_quoted(std::string_view& line) {
  std::string cell;
  line.remove_prefix(1);
  for (;;) {
    const auto quote = line.find('"');
    if (quote == std::string_view::npos)
      return fail(ErrorCode::invalid_argument, "a quoted cell does not end on its line");
    cell += line.substr(0, quote);
    line.remove_prefix(quote + 1);
    if (!line.starts_with('"')) return cell;
    cell += '"';
    line.remove_prefix(1);
  }
}

}  // namespace

Result<std::vector<std::string>> csv_cells(std::string_view line) {
  std::vector<std::string> cells;
  for (;;) {
    if (line.starts_with('"')) {
      Result<std::string> cell = take_quoted(line);
      if (!cell) return fail(cell.error());
      if (!line.empty() && line.front() != ',')
        return fail(ErrorCode::invalid_argument,
                    "something stands between a closing quote and the next comma");
      cells.push_back(std::move(*cell));
    } else {
      const auto end = std::min(line.find(','), line.size());
      cells.emplace_back(line.substr(0, end));
      line.remove_prefix(end);
    }
    if (line.empty()) return cells;
    line.remove_prefix(1);
  }
}

std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"#") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

std::string shown_cell(std::string_view value) {
  constexpr std::size_t kMostShown = 40;
  std::string out = "'";
  for (const char c : value.substr(0, kMostShown))
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  return out + (value.size() > kMostShown ? "...'" : "'");
}

}  // namespace rubato
