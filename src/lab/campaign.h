// Every job under every strategy, and what came of it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/objective.h"
#include "lab/noise.h"
#include "lab/score.h"
#include "predict/model.h"

namespace rubato::lab {

struct CampaignOptions {
  std::vector<std::string> strategies;  // names of govern/registry.h, and the oracles'
  Goal goal;                            // host_watts absent: the board alone counts
  std::int64_t iterations = 4000;
  NoiseOptions noise;
  std::uint64_t seed = 1;
  std::uint64_t seeds = 1;                      // that many runs of each, from `seed` on
  unsigned threads = 1;                         // the result does not depend on it
  std::shared_ptr<const predict::Model> model;  // learned elsewhere
  /// Told after each run how many of all are done, by one thread at a time; empty: nobody is.
  std::function<void(std::size_t done, std::size_t all)> progress;
};

struct StrategyOutcome {
  std::string name;
  bool applicable = true;
  std::vector<std::string> needs{};  // what it lacks here, a sentence each
  std::vector<Row> rows{};           // job by job, seed by seed; none where it is not applicable
  Score score{};
};

/// not_found: no such strategy.
[[nodiscard]] Result<std::vector<StrategyOutcome>> run_campaign(std::span<const Job> jobs,
                                                                const CampaignOptions& options);

}  // namespace rubato::lab
