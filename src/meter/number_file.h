// Files of one whole number in sysfs, and looks at its folders that never throw.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace rubato::meter {

/// Errors name the file: no_permission, not_found, io (the device is gone), corrupt (no whole number in it).
[[nodiscard]] Result<std::int64_t> read_whole(const std::filesystem::path& file);
/// The file's first line without blanks around it; empty where it cannot be read.
[[nodiscard]] std::string read_word(const std::filesystem::path& file);
/// Names of the entries, sorted with their numbers by value: "in2" before "in10". Empty where there is no
/// folder.
[[nodiscard]] std::vector<std::string> entries(const std::filesystem::path& folder);

}  // namespace rubato::meter
