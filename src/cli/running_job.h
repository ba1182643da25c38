// A job that runs already, as /proc tells of it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/fs_root.h"
#include "base/result.h"
#include "base/units.h"

namespace rubato::cli {

struct RunningJob {
  pid_t pid = 0;
  std::vector<std::string> command;  // a program may have put a title of its own in its place
  std::string working_directory;     // empty where it cannot be looked at (another user's)
  std::optional<Seconds> age;        // of the wall
};

/// Errors: there is no such process, it is a thread of one, it has ended and only waits to be reaped,
/// or it is a thread of the kernel.
[[nodiscard]] Result<RunningJob> running_job(pid_t pid, const FsRoot& root = {});

/// "process 1234, which has run for 3 h 06 min: python3 train.py"
[[nodiscard]] std::string describe(const RunningJob& job);

}  // namespace rubato::cli
