#include "lab/measured_oracle.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lab/campaign.h"
#include "small_job.h"

namespace rubato::lab {
namespace {

CampaignOptions options(std::int64_t iterations, double noise) {
  CampaignOptions out;
  out.strategies = {"oracle-measured", "oracle"};
  out.goal.max_slowdown = 0.05;
  out.iterations = iterations;
  out.noise.level = noise;
  return out;
}

TEST(MeasuredOracle, AMarginOfFourErrorsIsPaid) {
  // Two means of 500 iterations each: 3.719 * 1 % * sqrt(2 / 500) = 0.235 %.
  const double margin = 3.719 * 0.01 * std::sqrt(2.0 / 500);
  const double slowdown = slowdown_vouched_for(500, 1000, 0.01, 0.05);
  EXPECT_NEAR((1 + slowdown) * (1 + margin), 1 + 2 * 0.05, 1e-12);
}

TEST(MeasuredOracle, WithoutNoiseAllIsVouchedFor) {
  EXPECT_NEAR(slowdown_vouched_for(1, 1000, 0, 0.05), 0.05 * 1000 / 999, 1e-12);
}

TEST(MeasuredOracle, NothingIsVouchedForWhereTheNoiseIsTooMuchOrNothingWasMeasured) {
  EXPECT_EQ(slowdown_vouched_for(4, 1000, 0.05, 0.05), 0);
  EXPECT_EQ(slowdown_vouched_for(0, 1000, 0.01, 0.05), 0);
  EXPECT_EQ(slowdown_vouched_for(1000, 1000, 0.01, 0.05), 0);
}

TEST(MeasuredOracle, WithoutNoiseItIsTheBestShareOfTwoButForAnIteration) {
  const std::vector<Job> jobs = {small_job()};
  const auto found = run_campaign(jobs, options(1000, 0));
  ASSERT_TRUE(found) << found.error().what;
  const Score& score = (*found)[0].score;
  EXPECT_NEAR(score.saving, score.mixed_oracle_saving, 1e-3);
  EXPECT_EQ(score.bound_violations, 0);
}

TEST(MeasuredOracle, LongerRunsPayLessForWhatTheyMeasure) {
  const std::vector<Job> jobs = {small_job()};
  double before = 0;
  for (const std::int64_t iterations : {500, 5000, 50000}) {
    const auto found = run_campaign(jobs, options(iterations, 0.01));
    ASSERT_TRUE(found) << found.error().what;
    const Score& score = (*found)[0].score;
    EXPECT_GT(score.saving, before);
    EXPECT_LT(score.saving, score.mixed_oracle_saving);
    EXPECT_LT(score.slowdown, 0.05);
    before = score.saving;
  }
}

TEST(MeasuredOracle, JobsOfSeveralProgramsAreNotItsBusiness) {
  Job job = small_job();
  job.programs.push_back(job.programs[0]);
  job.phases = {{0, 100}, {1, 100}};
  const auto found = run_campaign(std::vector<Job>{job}, options(1000, 0.01));
  ASSERT_TRUE(found) << found.error().what;
  EXPECT_FALSE((*found)[0].applicable);
  ASSERT_EQ((*found)[0].needs.size(), 1u);
}

}  // namespace
}  // namespace rubato::lab
