// What was expected of settings, as rows: one for each setting of each expectation that was kept.
#pragma once

#include <cstdint>
#include <memory>

#include "base/clock.h"
#include "record/sqlite.h"
#include "report/rows.h"

namespace rubato::cli {

/// Ratios are over the found setting's. None of a record older than schema version 5. `db` must outlive them.
[[nodiscard]] std::unique_ptr<report::Rows> expectation_rows(const record::Database& db, std::int64_t version,
                                                             TimePoint begin);

}  // namespace rubato::cli
