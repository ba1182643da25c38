// A foreign CSV file by the names of its columns; every complaint has file, line, column and value.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace rubato::experiment {

class CsvRow {
 public:
  CsvRow(const std::vector<std::string>& columns, std::vector<std::string> cells, const std::string& file,
         std::size_t line)
      : columns_(&columns), cells_(std::move(cells)), file_(&file), line_(line) {}

  [[nodiscard]] std::size_t line() const { return line_; }
  [[nodiscard]] Result<std::string> text(std::string_view column) const;  // not empty
  [[nodiscard]] Result<double> positive(std::string_view column) const;
  [[nodiscard]] Error wrong(std::string_view column, std::string_view what) const;

 private:
  [[nodiscard]] const std::string& cell(std::string_view column) const;

  const std::vector<std::string>* columns_;
  std::vector<std::string> cells_;
  const std::string* file_;
  std::size_t line_;
};

/// Refers to the file name it was read with.
struct CsvRows {
  std::vector<std::string> columns;
  std::vector<CsvRow> rows;

  CsvRows() = default;
  CsvRows(const CsvRows&) = delete;  // rows point at columns
  CsvRows& operator=(const CsvRows&) = delete;
};

/// Fills `into`. invalid_argument: a column of `needed` is missing or there twice, a row of another length, a
/// byte that is no text. Other columns are let through.
[[nodiscard]] Status read_csv_rows(const std::string& file, std::string_view text,
                                   std::span<const std::string_view> needed, CsvRows& into);

}  // namespace rubato::experiment
