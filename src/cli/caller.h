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

/// The person behind sudo: set when this process is root and SUDO_UID names somebody else. invalid_argument
/// where the variables are no ids: to stay root then would run the job as root.
[[nodiscard]] Result<std::optional<Caller>> caller_behind_sudo();

/// Becomes the caller where there is one; nothing to do else. For commands that need no guard.
[[nodiscard]] Status drop_to_caller();

/// True for root where XDG_RUNTIME_DIR is somebody else's, as `sudo -E` leaves it: root's files must not lie
/// there, or that person can no longer use it.
[[nodiscard]] bool runtime_folder_is_anothers();

/// Takes groups, group and user of `caller`, for good, and the environment they had before sudo cleaned it.
/// Where that cannot be read, the warning names what is missing and the remedy (--sudo).
[[nodiscard]] Status become(const Caller& caller, const FsRoot& root = {});

}  // namespace rubato::cli
