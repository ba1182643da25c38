#include "conduct/ownership.h"

#include <algorithm>

#include "base/process_tree.h"
#include "base/text.h"

namespace rubato::conduct {
namespace {

std::string name_of_process(const FsRoot& root, pid_t pid) {
  const auto name = root.read(cat("/proc/", pid, "/comm"));
  return cat("process ", pid, name ? cat(" (", trim(*name), ")") : "");
}

}  // namespace

// A rank's data loaders may overwrite their environment with a title of their own, so their ancestors are
// asked as well.
bool OwnershipCheck::is_ours(pid_t pid) const {
  for (int depth = 0; pid > 1 && depth < kDeepestProcessTree; ++depth) {
    if (pid == job_ || carries_our_mark(pid)) return true;
    const auto parent = parent_of(root_, pid);
    if (!parent) return false;
    pid = *parent;
  }
  return false;
}

bool OwnershipCheck::carries_our_mark(pid_t pid) const {
  const auto environment = root_.read(cat("/proc/", pid, "/environ"));
  if (!environment) return false;
  const auto entries = split(*environment, '\0');
  const std::string wanted = cat(kRunIdVariable, "=", run_id_);
  return std::find(entries.begin(), entries.end(), wanted) != entries.end() ||
         (same_group_ && same_group_(entries));
}

Ownership OwnershipCheck::judge(const std::vector<ComputeProcess>& processes) const {
  using Verdict = Ownership::Verdict;
  Ownership result;
  // The gravest verdict counts, and of equal ones the first.
  const auto found = [&result](Verdict verdict, std::string why) {
    if (verdict <= result.verdict) return;
    result.verdict = verdict;
    result.why = std::move(why);
  };
  for (const auto& process : processes) {
    const auto pid = static_cast<pid_t>(process.pid);
    if (!root_.exists(cat("/proc/", pid))) {
      found(Verdict::unknown, cat("the driver names process ", pid,
                                  ", which cannot be seen from here (another process namespace?)"));
    } else if (is_ours(pid)) {
      result.job_here = true;
      found(Verdict::job, {});
    } else {
      found(Verdict::foreign,
            cat(name_of_process(root_, pid), ", which is not part of this job, computes here too"));
    }
  }
  return result;
}

}  // namespace rubato::conduct
