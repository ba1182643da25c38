// The samples of every GPU of a record on one time axis.
#pragma once

#include <memory>
#include <vector>

#include "record/sqlite.h"
#include "report/rows.h"

namespace rubato::cli {

struct SeriesGpu {
  std::int64_t row = 0;    // in table device
  std::int64_t index = 0;  // the driver's
};

/// One row per GPU and moment; a fast and a slow reading of the same moment share one.
[[nodiscard]] std::unique_ptr<report::Rows> sample_rows(const record::Database& db,
                                                        const std::vector<SeriesGpu>& gpus, TimePoint begin);

}  // namespace rubato::cli
