// Long tables row by row, as CSV or as a JSON array: written while they are read, never held whole.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace rubato::report {

/// Empty in CSV and null in JSON where nothing is known.
using Cell = std::variant<std::monostate, std::int64_t, std::uint64_t, double, std::string>;

class Rows {
 public:
  virtual ~Rows() = default;
  /// Names with their units, as in the header line.
  [[nodiscard]] virtual std::span<const std::string> columns() const = 0;
  /// Fills `row` with one cell per column; false at the end.
  [[nodiscard]] virtual Result<bool> next(std::vector<Cell>& row) = 0;
};

/// Takes text as it is made.
class Sink {
 public:
  virtual ~Sink() = default;
  [[nodiscard]] virtual Status write(std::string_view text) = 0;
};

/// Header line and rows after RFC 4180, lines ended by "\n".
[[nodiscard]] Status write_csv(Rows& rows, Sink& to);
/// {"columns": [...], "rows": [[...], ...]}, one row in a line.
[[nodiscard]] Status write_json(Rows& rows, Sink& to);

/// A string literal of JSON, quotes included; what is not UTF-8 becomes replacement characters.
[[nodiscard]] std::string json_string(std::string_view text);

}  // namespace rubato::report
