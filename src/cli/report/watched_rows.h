// Rows that somebody counts while they are read.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "report/rows.h"

namespace rubato::cli {

class WatchedRows final : public report::Rows {
 public:
  /// `watcher` is told how many rows were read since it was told before: every thousand, and at the end.
  WatchedRows(std::unique_ptr<report::Rows> rows, std::function<void(std::size_t)> watcher)
      : rows_(std::move(rows)), watcher_(std::move(watcher)) {}
  [[nodiscard]] std::span<const std::string> columns() const override { return rows_->columns(); }
  [[nodiscard]] Result<bool> next(std::vector<report::Cell>& row) override {
    auto more = rows_->next(row);
    const bool any = more && *more;
    if (any) ++read_;
    if (!any || read_ == kTold) watcher_(std::exchange(read_, 0));
    return more;
  }

 private:
  static constexpr std::size_t kTold = 1000;
  std::unique_ptr<report::Rows> rows_;
  std::function<void(std::size_t)> watcher_;
  std::size_t read_ = 0;
};

}  // namespace rubato::cli
