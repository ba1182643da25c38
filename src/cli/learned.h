// Settings that programs settled at, between runs: read before one starts, written after one ended well.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "govern/registry.h"

namespace rubato::cli {

/// Of this command, started in that folder, on this kind of GPU under this driver; what cannot be read is
/// said and passed over.
[[nodiscard]] std::optional<govern::Remembered> remembered(const std::vector<std::string>& command,
                                                           const std::filesystem::path& folder,
                                                           std::string_view gpu,
                                                           std::string_view driver_version);

/// Keeps what the run in `record` teaches (learnable.h). Failures are no loss but of the next run's head
/// start.
void remember(const std::filesystem::path& record);

}  // namespace rubato::cli
