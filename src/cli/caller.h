// Who really typed the command. Under `sudo rubato` everything but the guard becomes that person again,
// before the first file is opened: records are theirs, and so is the job.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/fs_root.h"
#include "base/result.h"

namespace rubato::cli {

struct Caller {
  uid_t uid = 0;
  gid_t gid = 0;
  std::string name;
  std::string home;
};

/// The person behind sudo: set when this process is root and SUDO_UID names somebody else.
[[nodiscard]] std::optional<Caller> caller_behind_sudo();

/// Takes groups, group and user of `caller`, for good, and the environment they had before sudo cleaned it.
/// Where that cannot be read, the warning names what is missing and the remedy (--sudo).
[[nodiscard]] Status become(const Caller& caller, const FsRoot& root = {});

}  // namespace rubato::cli
