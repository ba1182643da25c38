// Which job this process is a rank of, as its launcher's environment tells: Slurm, Open MPI, torchrun, or
// whoever else sets torch's variables. Only variables are read; nothing is asked of PMI, whose socket is the
// program's own.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/result.h"

namespace rubato::agent {

struct JobPlace {
  std::string launcher;  // for people: "srun"
  std::string job;       // the same for every rank of one start of one job, and for nothing else
  std::int64_t rank = 0;
  std::int64_t world = 1;
  std::int64_t local_rank = 0;
  std::int64_t local_world = 1;  // ranks on this node
  std::int64_t nodes = 1;
  std::string host{};                   // where rank 0 is; empty: the launcher does not tell
  std::optional<std::uint16_t> port{};  // where its agent listens; absent: derived from the secret
};

/// Nothing where this process is no rank of a job of several.
[[nodiscard]] std::optional<JobPlace> job_place(const std::map<std::string, std::string>& environment);

/// "RANK/SIZE@HOST:PORT", as typed behind --agents: one agent on each of SIZE nodes, and HOST:PORT is rank
/// 0's. Errors: invalid_argument.
[[nodiscard]] Result<JobPlace> parse_job_place(const std::string& text);

/// "gpu[03-10,12],login1" → "gpu03": the first of a Slurm host list; empty where it is none.
[[nodiscard]] std::string first_host(std::string_view list);

/// "4(x2),1" → 4, 4, 1: SLURM_STEP_TASKS_PER_NODE of the node; nothing where it does not say.
[[nodiscard]] std::optional<std::int64_t> tasks_on_node(std::string_view list, std::int64_t node);

}  // namespace rubato::agent
