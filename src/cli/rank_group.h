// The ranks of one training on this node, as launchers tell them: torchrun, Open MPI, srun, and whoever else
// sets LOCAL_RANK with MASTER_ADDR and MASTER_PORT.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/fs_root.h"

namespace rubato::cli {

struct RankGroup {
  std::string launcher;  // for people: "torchrun"
  std::string key;       // the same for every rank of one start of one job, and for nothing else
  std::int64_t local_rank = 0;
};

/// Nothing where this process is no rank, or the only one on its node.
[[nodiscard]] std::optional<RankGroup> rank_group(const std::map<std::string, std::string>& environment);

/// The same of another process; `entries` as in /proc/PID/environ.
[[nodiscard]] std::optional<RankGroup> rank_group_of(const std::vector<std::string>& entries);

/// How many other ranks of the group still have a process on this node.
[[nodiscard]] std::size_t other_ranks_alive(const RankGroup& group, const FsRoot& root = {});

}  // namespace rubato::cli
