// What on the machine says that nothing may be set now.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/fs_root.h"
#include "daemon/rules.h"

namespace rubato::daemon {

struct Surroundings {
  bool disabled = false;  // the disable file is there
  std::string never;      // which never_during holds, and why; empty: none
};

[[nodiscard]] bool is_disabled(const FsRoot& root, const std::filesystem::path& disable_file);

/// The first that holds, in words; empty: none. Reads the name of every process where one of them asks for
/// one. Anybody can call a process what they like, so only root's count, and those of `own`.
[[nodiscard]] std::string what_forbids(const FsRoot& root, const std::vector<NeverDuring>& never, uid_t own);

}  // namespace rubato::daemon
