#include "lab/campaign.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <thread>

#include "base/fnv1a.h"
#include "govern/registry.h"
#include "plan/setting_of.h"

namespace rubato::lab {
namespace {

using Made = Result<std::unique_ptr<govern::Strategy>>;

Made made(const std::string& name, const Job& job, const Oracles& oracles, const CampaignOptions& options,
          std::uint64_t seed) {
  if (name == kOracle) {
    if (oracles.setting == job.found) return make_oracle({});
    return make_oracle(plan::setting_of(job.grid[oracles.setting]));
  }
  govern::StrategyRequest request;
  request.reason = "the lab was asked to change nothing";
  request.goal = options.goal;
  // Nothing is assumed of a host here: what it draws counts where it was given.
  if (!request.goal.host_watts) request.goal.host_watts = Watts(0);
  request.space = job.space;
  request.model = options.model;
  request.seed = fnv1a(job.name) + seed;
  request.gpus = static_cast<unsigned>(job.board_efficiency.size());
  return govern::make_strategy(name, request);
}

/// One job under one seed: one draw for all strategies.
struct Unit {
  std::vector<std::optional<Row>> rows;  // by strategy
  std::vector<Error> errors;             // by strategy, where there is no row
};

Unit run_unit(const Job& job, std::size_t index, const CostTable& costs, const CampaignOptions& options,
              std::uint64_t seed) {
  const Draw disturbance =
      draw(options.noise, job.name, seed, options.iterations, job.programs.front().iteration);
  const Watts host = options.goal.host_watts.value_or(Watts(0));
  const std::vector<RunCost> fixed = fixed_runs(job, costs, disturbance, options.iterations, host);
  const Oracles oracles = oracles_of(fixed, job.found, options.goal.max_slowdown);
  Unit out{std::vector<std::optional<Row>>(options.strategies.size()),
           std::vector<Error>(options.strategies.size())};
  for (std::size_t s = 0; s < options.strategies.size(); ++s) {
    const Made strategy = made(options.strategies[s], job, oracles, options, seed);
    if (!strategy) {
      out.errors[s] = strategy.error();
      continue;
    }
    out.rows[s] =
        Row{index, seed, oracles, replay(job, costs, disturbance, **strategy, options.iterations, host)};
  }
  return out;
}

std::vector<Unit> run_units(std::span<const Job> jobs, const CampaignOptions& options) {
  std::vector<CostTable> costs;
  for (const Job& job : jobs) costs.emplace_back(job);
  std::vector<Unit> units(jobs.size() * options.seeds);
  std::atomic<std::size_t> next = 0;
  std::mutex telling;
  std::size_t done = 0;
  const auto work = [&] {
    for (std::size_t u = next++; u < units.size(); u = next++) {
      const std::size_t j = u / options.seeds;
      units[u] = run_unit(jobs[j], j, costs[j], options, options.seed + u % options.seeds);
      if (!options.progress) continue;
      const std::lock_guard lock(telling);
      options.progress(++done, units.size());
    }
  };
  std::vector<std::jthread> helpers;
  for (unsigned t = 1; t < options.threads; ++t) helpers.emplace_back(work);
  work();
  helpers.clear();
  return units;
}

}  // namespace

Result<std::vector<StrategyOutcome>> run_campaign(std::span<const Job> jobs, const CampaignOptions& options) {
  const std::vector<Unit> units = run_units(jobs, options);

  std::vector<StrategyOutcome> out;
  for (std::size_t s = 0; s < options.strategies.size(); ++s) {
    StrategyOutcome outcome{.name = options.strategies[s]};
    for (const Unit& unit : units) {
      if (unit.rows[s]) {
        outcome.rows.push_back(*unit.rows[s]);
        continue;
      }
      const Error& error = unit.errors[s];
      if (error.code == ErrorCode::not_found) return fail(error);
      if (std::find(outcome.needs.begin(), outcome.needs.end(), error.what) == outcome.needs.end())
        outcome.needs.push_back(error.what);
    }
    outcome.applicable = outcome.needs.empty();
    if (outcome.applicable) {
      outcome.score = score(outcome.rows, options.goal.max_slowdown);
    } else {
      outcome.rows.clear();
    }
    out.push_back(std::move(outcome));
  }
  return out;
}

}  // namespace rubato::lab
