// The rows of a query on one run record, as a report takes them.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "record/sqlite.h"
#include "report/rows.h"

namespace rubato::cli {

/// The rows of a query, each made into cells by a function.
class QueryRows final : public report::Rows {
 public:
  using Take = std::function<void(record::Statement&, std::vector<report::Cell>&)>;
  QueryRows(const record::Database& db, std::string sql, std::vector<std::string> columns, Take take)
      : db_(db), statement_(std::move(sql)), columns_(std::move(columns)), take_(std::move(take)) {}
  [[nodiscard]] std::span<const std::string> columns() const override { return columns_; }
  [[nodiscard]] Result<bool> next(std::vector<report::Cell>& row) override {
    if (statement_.next(db_)) {
      take_(statement_, row);
      return true;
    }
    if (statement_.failed()) return fail(db_.error("cannot read run record"));
    return false;
  }

 private:
  const record::Database& db_;
  record::Statement statement_;
  std::vector<std::string> columns_;
  Take take_;
};

inline void append_real(record::Statement& from, std::vector<report::Cell>& row) {
  if (const auto value = from.optional_real())
    row.emplace_back(*value);
  else
    row.emplace_back();
}

inline void append_text(record::Statement& from, std::vector<report::Cell>& row) {
  if (from.is_null()) {
    from.skip();
    row.emplace_back();
  } else {
    row.emplace_back(from.text());
  }
}

/// Of a record older than these series.
inline std::unique_ptr<report::Rows> no_rows(std::vector<std::string> columns) {
  class Nothing final : public report::Rows {
   public:
    explicit Nothing(std::vector<std::string> names) : names_(std::move(names)) {}
    [[nodiscard]] std::span<const std::string> columns() const override { return names_; }
    [[nodiscard]] Result<bool> next(std::vector<report::Cell>&) override { return false; }

   private:
    std::vector<std::string> names_;
  };
  return std::make_unique<Nothing>(std::move(columns));
}

}  // namespace rubato::cli
