// Files of other tools as sweep tables. One row in formats.cpp makes a format known by name.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/sweep_table.h"

namespace rubato::experiment {

struct ForeignFile {
  std::string name;  // path, for messages and for what a format hides in file names
  std::string text;
};

/// What the files do not say, or say in their names only.
struct ImportWishes {
  std::optional<std::string> gpu;
  std::optional<std::string> workload;
  std::optional<unsigned> gpu_count;  // whose energy a file adds up; formats that list GPUs know it
};

struct ImportFormat {
  std::string_view name;
  std::string_view what;
};

[[nodiscard]] std::span<const ImportFormat> import_formats();

/// All files as one table, or nothing. invalid_argument names file, line and value: also of a setting that
/// stands there twice and of a workload without a default row.
[[nodiscard]] Result<SweepTable> import_files(std::string_view format, std::span<const ForeignFile> files,
                                              const ImportWishes& wishes = {});

}  // namespace rubato::experiment
