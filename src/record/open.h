// Opening a file as a run record, and the little that a list of runs needs of it.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "record/reader.h"
#include "record/sqlite.h"

namespace rubato::record {

enum class Check { header_only, whole_file };

/// Errors: not_found; corrupt where it is no run record or damaged; not_supported for a newer schema version.
[[nodiscard]] Result<Database> open_record(const std::filesystem::path& file, Check check);
[[nodiscard]] Result<std::int64_t> read_version(const Database& db);
[[nodiscard]] Result<RunInfo> read_info(const Database& db);
[[nodiscard]] Result<RunSummary> read_summary(const std::filesystem::path& file);

}  // namespace rubato::record
