// Hours of a job that changes again and again: what is known of its programs stays known.
#include <gtest/gtest.h>

#include "base/fnv1a.h"
#include "govern/registry.h"
#include "lab/oracle.h"
#include "lab/replay.h"
#include "lab/suites.h"

namespace rubato::lab {
namespace {

constexpr double kBound = 0.05;
constexpr std::int64_t kThreeHours = 36'000;

TEST(LongRuns, AJobWhoseProgramsComeBackKeepsWhatItLearned) {
  const auto jobs = suite_named("time-varying");
  ASSERT_TRUE(jobs) << jobs.error().what;
  for (const Job& job : *jobs) {
    if (job.name != "slow-storage-v100") continue;
    govern::StrategyRequest request;
    request.goal.max_slowdown = kBound;
    request.goal.host_watts = Watts(0);
    request.space = job.space;
    request.seed = fnv1a(job.name) + 1;
    const auto strategy = govern::make_strategy("rubato", request);
    ASSERT_TRUE(strategy) << strategy.error().what;
    const CostTable costs(job);
    const Draw drawn = draw({}, job.name, 1, kThreeHours, job.programs.front().iteration);
    const auto fixed =
        oracles_of(fixed_runs(job, costs, drawn, kThreeHours, Watts(0)), job.found, kBound).fixed;
    const Replayed run = replay(job, costs, drawn, **strategy, kThreeHours, Watts(0));
    EXPECT_GE(run.saving, 0.75 * fixed.saving) << "at first it was 0.46";
    EXPECT_LE(run.slowdown, kBound);
    return;
  }
  FAIL() << "the suite has another job no more";
}

}  // namespace
}  // namespace rubato::lab
