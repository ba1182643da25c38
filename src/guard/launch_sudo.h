// The sudo form of starting a guard. Internal to launch.cpp.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace rubato::guard {

struct SudoLink {
  ScopedFd socket;
  std::string token;  // to be sent with the Hello
};

/// sudo asks for its password in the foreground; then `command` plus "--connect PATH --token-stdin" is
/// started as root and connects back. sudo closes other descriptors, so nothing can be inherited.
[[nodiscard]] Result<SudoLink> start_through_sudo(const std::string& sudo, std::vector<std::string> command,
                                                  const std::filesystem::path& folder);

}  // namespace rubato::guard
