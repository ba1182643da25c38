// What a record tells of the iteration, as rows: iterations, statements, rates, shifts and counters.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "cli/report/series.h"
#include "record/sqlite.h"
#include "report/rows.h"

namespace rubato::cli {

/// What the rows are read with; all of it must outlive them.
struct RecordView {
  const record::Database& db;
  std::int64_t version = 0;
  TimePoint begin;
  const std::map<std::int64_t, std::int64_t>& index_of;  // device row → driver index
};

[[nodiscard]] std::unique_ptr<report::Rows> iteration_rows(Series series, const RecordView& view);

}  // namespace rubato::cli
