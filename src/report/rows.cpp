#include "report/rows.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace rubato::report {
namespace {

std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

void append_csv(std::string& line, const Cell& cell) {
  if (const auto* integer = std::get_if<std::int64_t>(&cell))
    line += std::to_string(*integer);
  else if (const auto* bits = std::get_if<std::uint64_t>(&cell))
    line += std::to_string(*bits);
  else if (const auto* real = std::get_if<double>(&cell))
    line += std::isfinite(*real) ? number(*real) : "";
  else if (const auto* text = std::get_if<std::string>(&cell))
    line += csv_text(*text);
}

void append_json(std::string& line, const Cell& cell) {
  if (const auto* integer = std::get_if<std::int64_t>(&cell))
    line += std::to_string(*integer);
  else if (const auto* bits = std::get_if<std::uint64_t>(&cell))
    line += std::to_string(*bits);
  else if (const auto* real = std::get_if<double>(&cell); real != nullptr && std::isfinite(*real))
    line += number(*real);
  else if (const auto* text = std::get_if<std::string>(&cell))
    line += json_string(*text);
  else
    line += "null";
}

/// Calls `write(row)` for every row until the end or the first failure of either.
template <class Write>
Status each(Rows& rows, Write write) {
  std::vector<Cell> row;
  while (true) {
    row.clear();
    const auto more = rows.next(row);
    if (!more) return fail(more.error());
    if (!*more) return {};
    if (const Status written = write(row); !written) return written;
  }
}

}  // namespace

std::string json_string(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Status write_csv(Rows& rows, Sink& to) {
  std::string line;
  for (const std::string& column : rows.columns()) line += cat(line.empty() ? "" : ",", csv_text(column));
  if (const Status head = to.write(line + "\n"); !head) return head;
  return each(rows, [&](const std::vector<Cell>& row) {
    line.clear();
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) line += ',';
      append_csv(line, row[i]);
    }
    line += '\n';
    return to.write(line);
  });
}

Status write_json(Rows& rows, Sink& to) {
  std::string line = "{\"columns\": [";
  for (std::size_t i = 0; i < rows.columns().size(); ++i)
    line += cat(i == 0 ? "" : ", ", json_string(rows.columns()[i]));
  if (const Status head = to.write(line + "],\n\"rows\": ["); !head) return head;
  bool first = true;
  const Status all = each(rows, [&](const std::vector<Cell>& row) {
    line = first ? "\n[" : ",\n[";
    first = false;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) line += ',';
      append_json(line, row[i]);
    }
    line += ']';
    return to.write(line);
  });
  return all ? to.write("]}") : all;
}

}  // namespace rubato::report
