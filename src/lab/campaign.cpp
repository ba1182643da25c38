#include "lab/campaign.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <optional>
#include <thread>

#include "base/fnv1a.h"
#include "base/text.h"
#include "govern/registry.h"
#include "lab/measured_oracle.h"
#include "lab/phase_oracle.h"
#include "plan/setting_of.h"

namespace rubato::lab {
namespace {

using Made = Result<std::unique_ptr<govern::Strategy>>;

constexpr std::array kOracles = {kOracle, kPhaseOracle, kCausalOracle, kCausalMeasuredOracle,
                                 kMeasuredOracle};

govern::StrategyRequest request_of(const Job& job, const CampaignOptions& options, std::uint64_t seed) {
  govern::StrategyRequest request;
  request.reason = "the lab was asked to change nothing";
  request.goal = options.goal;
  // Nothing is assumed of a host here: what it draws counts where it was given.
  if (!request.goal.host_watts) request.goal.host_watts = Watts(0);
  request.space = job.space;
  request.model = options.model;
  request.seed = fnv1a(job.name) + seed;
  request.gpus = static_cast<unsigned>(job.board_efficiency.size());
  return request;
}

/// Found before anything is run.
std::optional<Error> unknown_strategy(std::span<const Job> jobs, const CampaignOptions& options) {
  if (jobs.empty()) return std::nullopt;
  for (const std::string& name : options.strategies) {
    if (std::find(kOracles.begin(), kOracles.end(), name) != kOracles.end()) continue;
    const auto strategy = govern::make_strategy(name, request_of(jobs.front(), options, options.seed));
    if (strategy || strategy.error().code != ErrorCode::not_found) continue;
    Error error = strategy.error();
    const std::string_view plain = std::string_view(name).substr(0, name.find_first_of("+@"));
    const auto known = govern::strategies();
    if (std::any_of(known.begin(), known.end(), [&](const auto& entry) { return entry.name == plain; }))
      return error;  // it lacks the variant only
    error.what += "; in the lab alone:";
    for (const std::string_view oracle : kOracles)
      error.what += cat(oracle == kOracles.front() ? " " : ", ", oracle);
    return error;
  }
  return std::nullopt;
}

Made made(const std::string& name, const Job& job, const CostTable& costs, const Draw& disturbance,
          const Oracles& oracles, const CampaignOptions& options, std::uint64_t seed) {
  if (name == kOracle) {
    if (oracles.setting == job.found) return make_oracle({});
    return make_oracle(plan::setting_of(job.grid[oracles.setting]));
  }
  const Watts host = options.goal.host_watts.value_or(Watts(0));
  if (name == kPhaseOracle)
    return make_phase_oracle(job, costs, disturbance, options.iterations, options.goal.max_slowdown, host);
  if (name == kCausalOracle)
    return make_causal_oracle(job, costs, disturbance, options.goal.max_slowdown, host);
  if (name == kCausalMeasuredOracle)
    return make_causal_oracle(job, costs, disturbance, options.goal.max_slowdown, host, options.noise.level);
  if (name == kMeasuredOracle)
    return make_measured_oracle(job, costs, disturbance, options.iterations, options.noise.level,
                                options.goal.max_slowdown, host);
  return govern::make_strategy(name, request_of(job, options, seed));
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
    const Made strategy = made(options.strategies[s], job, costs, disturbance, oracles, options, seed);
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
  if (const auto error = unknown_strategy(jobs, options)) return fail(*error);
  const std::vector<Unit> units = run_units(jobs, options);

  std::vector<StrategyOutcome> out;
  for (std::size_t s = 0; s < options.strategies.size(); ++s) {
    StrategyOutcome outcome{.name = options.strategies[s]};
    for (const Unit& unit : units) {
      if (unit.rows[s]) {
        outcome.rows.push_back(*unit.rows[s]);
        continue;
      }
      const std::string& needs = unit.errors[s].what;
      if (std::find(outcome.needs.begin(), outcome.needs.end(), needs) == outcome.needs.end())
        outcome.needs.push_back(needs);
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
