// A job that runs until enough of it was seen, and is then ended with all its processes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/fs_root.h"
#include "conduct/job.h"

namespace rubato::cli {

/// `pid` and what descends from it or has RUBATO_RUN_ID=`run_id` in its environment, ascending.
[[nodiscard]] std::vector<pid_t> processes_of(pid_t pid, const std::string& run_id, const FsRoot& root = {});

struct TracedEnd {
  conduct::JobStatus status;  // still running where nobody waits for it any longer
  bool by_us = false;         // `enough` was true, and it was ended
};

/// Call conduct::take_signals() before the job starts. `enough` is asked ten times a second; signals go on to
/// the job as in `rubato measure`. SIGTERM ends it, and SIGKILL what is left ten seconds later.
[[nodiscard]] TracedEnd run_until(conduct::Job& job, const std::string& run_id,
                                  const std::function<bool()>& enough);

}  // namespace rubato::cli
