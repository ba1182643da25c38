// One rubato per GPU measures and sets: among the ranks of a job on this node the first one leads, and the
// others only run their part of the job.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace rubato::cli {

/// Who asks. Written into the lock files for the others to read.
struct Claim {
  std::string group;  // RankGroup::key; empty: no rank
  std::int64_t local_rank = 0;
  std::string run_id;
  std::string outer_run_id;  // of the rubato that this one runs under; empty: none
};

struct Leadership {
  std::vector<std::string> uuids;  // what this process measures and sets
  std::optional<Claim> leader;     // who has the others, where that is our own job; its outer_run_id is empty
  std::vector<ScopedFd> locks;     // held as long as this process leads
};

/// A lock file for each GPU in `folder`, released by the kernel when its holder dies, never removed. A GPU
/// that a stranger's run has stays ours as well: whose it is, is for the ownership check to say.
[[nodiscard]] Result<Leadership> take_leadership(const std::filesystem::path& folder,
                                                 std::vector<std::string> uuids, const Claim& claim);

/// Until somebody has one of these GPUs; a second at most.
void wait_for_claim(const std::filesystem::path& folder, const std::vector<std::string>& uuids);

}  // namespace rubato::cli
