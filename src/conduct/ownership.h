// Whose compute contexts are on a GPU: rubato writes only where they are all the job's.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "base/fs_root.h"
#include "core/sample.h"

namespace rubato::conduct {

/// Put into the job's environment, so that a descendant that left the process tree is still known.
inline constexpr const char* kRunIdVariable = "RUBATO_RUN_ID";

struct Ownership {
  enum class Verdict {
    none,     // no compute context yet
    job,      // at least one, all of them the job's
    foreign,  // somebody else computes here too
    unknown,  // a process the driver names cannot be seen from here (another process namespace)
  } verdict = Verdict::none;
  std::string why;        // for foreign and unknown: which process
  bool job_here = false;  // whatever the verdict, at least one is the job's
};

class OwnershipCheck {
 public:
  /// `entries` as in /proc/PID/environ.
  using SameGroup = std::function<bool(const std::vector<std::string>& entries)>;

  /// `same_group`: the process is another rank of this job; empty where the job has no ranks beside it.
  OwnershipCheck(FsRoot root, pid_t job, std::string run_id, SameGroup same_group = {})
      : root_(std::move(root)), job_(job), run_id_(std::move(run_id)), same_group_(std::move(same_group)) {}

  [[nodiscard]] Ownership judge(const std::vector<ComputeProcess>& processes) const;

 private:
  [[nodiscard]] bool is_ours(pid_t pid) const;
  [[nodiscard]] bool carries_our_mark(pid_t pid) const;

  FsRoot root_;
  pid_t job_;
  std::string run_id_;
  SameGroup same_group_;
};

}  // namespace rubato::conduct
