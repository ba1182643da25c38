// The secret that opens the dashboard: one line in a file that others cannot read.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace rubato::exporter {

/// From `file`; where there is none, and `make` says so, a new one of 256 random bits is written there, 0600.
/// It stays the same from start to start, so that a page that is open goes on. Errors: no_permission where
/// others may read the file or write to it, invalid_argument where it holds no token (16 to 256 letters,
/// digits, '-', '_'), io.
[[nodiscard]] Result<std::string> access_token(const std::filesystem::path& file, bool make);

/// In a time that does not tell how much of it was right.
[[nodiscard]] bool same_token(std::string_view given, std::string_view right);

}  // namespace rubato::exporter
