// Which agents `rubato run` has to agree with: the other ranks' of a job on several nodes
// (docs/many-nodes.md).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/bootstrap.h"
#include "base/clock.h"
#include "base/result.h"
#include "conduct/job_agent.h"
#include "govern/strategy.h"

namespace rubato::cli {

/// Exactly as typed.
struct AgentsText {
  std::string agents = "auto";
  std::string key_file;  // empty: the user's own
  std::string rank_clocks = "same";
};

/// Whether ranks that wait for others may get a lower SM clock than those. Errors: invalid_argument.
[[nodiscard]] Result<bool> parse_rank_clocks(const std::string& text);

/// Nothing where this run has nobody to agree with: `off`, no rank of a job, or, with `auto`, all on one
/// node. Errors: invalid_argument for what was typed; not_found for `job` where no launcher tells of one.
[[nodiscard]] Result<std::optional<agent::JobPlace>> parse_agents(
    const AgentsText& text, const std::map<std::string, std::string>& environment);

/// What this run is in its job.
struct AgentFacts {
  std::string run;
  std::string space;  // what may be set here, in words; empty: nothing
  std::vector<GpuId> gpus;
};

/// Opens the port, or begins to look for rank 0's. Before the job starts; waits for the resolver, not for
/// other ranks. Errors: no secret, no port, a build that cannot seal.
[[nodiscard]] Result<std::shared_ptr<conduct::JobAgent>> make_job_agent(const agent::JobPlace& place,
                                                                        const AgentsText& text,
                                                                        const AgentFacts& facts,
                                                                        const Clock& clock);

struct Agreeing {
  bool clocks = false;  // some are to be set
  bool stated = false;  // the lock that was found was given
  std::string never;    // why nothing can be set here at all; empty: it can
  /// MHz that may be set, of ranks with clocks of their own; empty: all have the same.
  std::vector<double> rank_clocks;
};

/// The strategy that a run of this agent has in the place of its own.
[[nodiscard]] std::unique_ptr<govern::Strategy> agreeing(std::shared_ptr<conduct::JobAgent> agent,
                                                         std::unique_ptr<govern::Strategy> own, Agreeing how);

}  // namespace rubato::cli
