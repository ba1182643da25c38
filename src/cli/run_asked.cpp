#include "cli/run_asked.h"

#include <ctime>
#include <utility>

#include "cli/factor_options.h"

namespace rubato::cli {

Result<Asked> parse_asked(const RunOptions& options, bool experiment,
                          const std::map<std::string, std::string>& environment) {
  Asked out;
  auto wanted = parse_wanted(options.wanted);
  if (!wanted) return fail(wanted.error());
  out.wanted = std::move(*wanted);
  if (options.plan_file && !experiment) {
    auto read = read_asked_plan(*options.plan_file, options.wanted, options.governing);
    if (!read) return fail(read.error());
    out.wanted = wanted_by(*read, std::move(out.wanted));
    out.plan = std::move(*read);
  }
  const auto bound = parse_max_slowdown(options.governing.max_slowdown);
  if (!bound) return fail(bound.error());
  out.bound = *bound;
  auto governing =
      parse_governing(options.governing, !out.wanted.setting.empty(), std::time(nullptr), environment);
  if (!governing) return fail(governing.error());
  if (!experiment) out.governing = std::move(*governing);
  auto place = parse_agents(options.agents, environment);
  if (!place) return fail(place.error());
  const auto rank_clocks = parse_rank_clocks(options.agents.rank_clocks);
  if (!rank_clocks) return fail(rank_clocks.error());
  out.rank_clocks = *rank_clocks;
  const auto counters = wanted_counters(options.job.counters);
  if (!counters) return fail(counters.error());
  out.counters = *counters;
  // A plan switches inside the iteration of one GPU, an experiment measures whole runs, a budget of watts is
  // a node's own, and this process's ranks are not those of a job that runs already.
  if (!experiment && options.pid == 0 && out.anything() && !options.dry_run && !out.plan &&
      !out.power_budget())
    out.place = std::move(*place);
  return out;
}

}  // namespace rubato::cli
