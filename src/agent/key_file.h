// The key that a user's jobs derive their secrets from: a file of mode 0600.
#pragma once

#include <filesystem>

#include "agent/seal.h"
#include "base/result.h"

namespace rubato::agent {

/// Made with fresh randomness where it is missing and `make` is set; where two processes (on two machines
/// that share the folder) do so at once, both get the first one's. Errors: no_permission where it belongs to
/// somebody else or others may read or write it; corrupt where it is not 64 hexadecimal digits.
[[nodiscard]] Result<Secret> read_key_file(const std::filesystem::path& file, bool make);

}  // namespace rubato::agent
