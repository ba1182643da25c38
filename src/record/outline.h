// A run record without its samples, marks, kernels and iterations: little even of a run of days, and of one
// that goes on.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "record/reader.h"

namespace rubato::record {

/// As read_run(), but unchecked beyond the file's beginning.
[[nodiscard]] Result<RunRecord> read_outline(const std::filesystem::path& file);

}  // namespace rubato::record
