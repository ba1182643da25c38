// SELECTs on one run record: the first failure is kept, and everything after it reads nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/text.h"
#include "record/sqlite.h"

namespace rubato::record {

class Reading {
 public:
  explicit Reading(const Database& db) : db_(db) {}

  template <class Take>
  void each(const std::string& sql, Take take) {
    if (failure_) return;
    Statement rows(sql);
    while (!failure_ && rows.next(db_)) take(rows);
    if (rows.failed()) fail_with(db_.error("cannot read run record"));
  }
  void corrupt(std::string_view why) {
    fail_with(Error{ErrorCode::corrupt, cat("cannot read run record ", db_.file().string(), ": ", why),
                    "the file is left as it is; `rubato runs` lists the records that can be read"});
  }
  template <class T>
  T checked(Result<T> value, T otherwise) {
    if (value) return std::move(*value);
    corrupt(value.error().what);
    return otherwise;
  }
  [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }

 private:
  void fail_with(Error error) {
    if (!failure_) failure_ = std::move(error);
  }
  const Database& db_;
  std::optional<Error> failure_;
};

}  // namespace rubato::record
