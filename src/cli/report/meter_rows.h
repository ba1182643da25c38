// Readings of every meter of a record, and the kernels its duty cycles saw, as rows.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "record/sqlite.h"
#include "report/rows.h"

namespace rubato::cli {

extern const std::array<std::string, 5> kMeterColumns;
extern const std::array<std::string, 14> kKernelColumns;

/// One row per channel and moment, in order of time over all channels.
[[nodiscard]] std::unique_ptr<report::Rows> meter_rows(const record::Database& db, TimePoint begin);
/// In the order in which they were told; those of one stream are in order of time.
[[nodiscard]] std::unique_ptr<report::Rows> kernel_rows(const record::Database& db, TimePoint begin);

}  // namespace rubato::cli
