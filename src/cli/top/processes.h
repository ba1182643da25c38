// Who computes on which GPU, with the words /proc has for it.
#pragma once

#include <sys/types.h>

#include <vector>

#include "base/fs_root.h"
#include "cli/top/state.h"
#include "core/sample.h"

namespace rubato::cli::top {

/// `by_gpu`: what the driver lists, in the order of State::gpus. A process belongs to a run by its ancestors
/// or by its environment (conduct/ownership.h).
[[nodiscard]] std::vector<ProcessState> describe_processes(
    const FsRoot& root, const std::vector<std::vector<ComputeProcess>>& by_gpu,
    const std::vector<RunNow>& runs);

}  // namespace rubato::cli::top
