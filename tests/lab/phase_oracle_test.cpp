#include "lab/phase_oracle.h"

#include <gtest/gtest.h>

#include "lab/campaign.h"
#include "small_job.h"

namespace rubato::lab {
namespace {

/// Two programs in turn, alike but that a second saves twice as much in the other one.
Job two_programs(std::int64_t first, std::int64_t second) {
  Job job = small_job();
  job.programs.push_back(job.programs[0]);
  job.programs[1].energy = {0.2, 0.4, 0.6, 0.8, 1.0};
  job.phases = {{0, first}, {1, second}};
  return job;
}

CampaignOptions options(std::int64_t iterations) {
  CampaignOptions out;
  out.strategies = {"oracle", "oracle-causal", "oracle-phases"};
  out.goal.max_slowdown = 0.05;
  out.iterations = iterations;
  return out;
}

TEST(PhaseOracle, SecondsGoWhereTheySaveMost) {
  const Job job = two_programs(100, 100);
  const std::vector<RunCost> work = {{100, 100}, {100, 100}};
  const auto shares = share_out(CostTable(job), job.found, work, 10, Watts(0));
  EXPECT_EQ(shares[0].faster, job.found);
  EXPECT_EQ(shares[0].part, 0);
  EXPECT_EQ(shares[1].faster, job.found);
  EXPECT_EQ(shares[1].slower, 0u);
  EXPECT_NEAR(shares[1].part, 10.0 / 40, 1e-9);
}

TEST(PhaseOracle, AHostThatDrawsAsMuchAsASecondSavesLeavesNothingToShare) {
  const Job job = two_programs(100, 100);
  const std::vector<RunCost> work = {{100, 100}, {100, 100}};
  for (const auto& share : share_out(CostTable(job), job.found, work, 10, Watts(300)))
    EXPECT_EQ(share.slower, job.found);
}

TEST(PhaseOracle, AllOfTheBudgetIsSpentInTheProgramWhereItSavesTwice) {
  const std::vector<Job> jobs = {two_programs(100, 100)};
  const auto found = run_campaign(jobs, options(200));
  ASSERT_TRUE(found) << found.error().what;
  const Score& phases = (*found)[2].score;
  EXPECT_NEAR(phases.saving, 0.10, 1e-9);
  EXPECT_NEAR(phases.slowdown, 0.05, 1e-9);
  EXPECT_EQ(phases.bound_violations, 0);
}

TEST(PhaseOracle, WhoDoesNotKnowWhatComesSavesNoMoreAndIsAlwaysInsideTheBound) {
  const std::vector<Job> jobs = {two_programs(200, 100), two_programs(90, 310)};
  const auto found = run_campaign(jobs, options(2000));
  ASSERT_TRUE(found) << found.error().what;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const Replayed& causal = (*found)[1].rows[i].run;
    const Replayed& phases = (*found)[2].rows[i].run;
    EXPECT_LE(causal.saving, phases.saving + 1e-9);
    EXPECT_GE(causal.saving, 0.7 * phases.saving);
    ASSERT_TRUE(causal.worst_running_slowdown);
    EXPECT_LE(*causal.worst_running_slowdown, 0.05 + 1e-9);
  }
}

TEST(PhaseOracle, OfOneProgramItIsTheBestShareOfTwo) {
  const std::vector<Job> jobs = {small_job()};
  const auto found = run_campaign(jobs, options(1000));
  ASSERT_TRUE(found) << found.error().what;
  EXPECT_NEAR((*found)[2].score.saving, (*found)[2].score.mixed_oracle_saving, 1e-3);
  EXPECT_NEAR((*found)[1].score.saving, (*found)[2].score.saving, 1e-3);
}

}  // namespace
}  // namespace rubato::lab
