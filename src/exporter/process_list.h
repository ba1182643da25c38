// Who computes on the GPUs, by the names /proc has for them. Of a process no more than its name is told: the
// words behind it may hold secrets, and whoever has the dashboard's token need not be its user.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fs_root.h"
#include "core/sample.h"
#include "record/run_state.h"

namespace rubato::exporter {

struct ProcessEntry {
  pid_t pid = 0;                              // as the driver names it
  std::string user;                           // empty: cannot be seen from here
  std::string name;                           // empty likewise
  std::vector<std::size_t> gpus;              // positions in what was handed in
  std::optional<std::uint64_t> memory_bytes;  // on all of them
  std::string run_id;                         // of the run that started it; empty: of none that is known
};

/// `by_gpu`: what the driver lists, in order of the GPUs; a list that could not be had counts as empty.
[[nodiscard]] std::vector<ProcessEntry> processes_of(
    const FsRoot& root, const std::vector<Result<std::vector<ComputeProcess>>>& by_gpu,
    const std::vector<record::RunState>& runs);

}  // namespace rubato::exporter
