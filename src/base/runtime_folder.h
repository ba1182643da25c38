// The folder for files that live until reboot and belong to this user alone: simulated worlds, their
// journals.
#pragma once

#include <filesystem>

#include "base/result.h"

namespace rubato {

/// $XDG_RUNTIME_DIR/rubato, else rubato-<uid> in the temporary folder; made with mode 0700 where missing.
/// no_permission where what stands there is a symbolic link, is no folder, or others own it or may write to
/// it.
[[nodiscard]] Result<std::filesystem::path> runtime_folder();

/// The same checks for a folder of the caller's choice.
[[nodiscard]] Result<std::filesystem::path> private_folder(const std::filesystem::path& path);

}  // namespace rubato
