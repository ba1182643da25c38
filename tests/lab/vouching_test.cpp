#include "lab/vouching.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lab/campaign.h"
#include "small_job.h"

namespace rubato::lab {
namespace {

/// Each further second saves less, and more in the other program.
Job two_programs(std::int64_t first, std::int64_t second) {
  Job job = small_job();
  job.programs[0].time = {1.16, 1.12, 1.08, 1.04, 1.0};
  job.programs[0].energy = {0.88, 0.885, 0.90, 0.93, 1.0};
  job.programs.push_back(job.programs[0]);
  job.programs[1].energy = {0.80, 0.805, 0.82, 0.87, 1.0};
  job.phases = {{0, first}, {1, second}};
  return job;
}

std::vector<StrategyOutcome> run(const Job& job, std::int64_t iterations, double noise) {
  CampaignOptions options;
  options.strategies = {"oracle-causal-measured", "oracle-causal"};
  if (job.programs.size() == 1) options.strategies.emplace_back("oracle-measured");
  options.goal.max_slowdown = 0.05;
  options.iterations = iterations;
  options.noise.level = noise;
  auto found = run_campaign(std::vector<Job>{job}, options);
  EXPECT_TRUE(found) << found.error().what;
  return found ? *found : std::vector<StrategyOutcome>{};
}

TEST(Vouching, TheErrorsOfProgramsAddUpInSquares) {
  const Job job = two_programs(100, 100);
  Vouching vouching(CostTable(job), job.found, 0.01, 0.05, Watts(0));
  for (const std::size_t p : {0u, 1u})
    for (int i = 0; i < 500; ++i) {
      vouching.ran(p, true, 1);
      if (i > 0) vouching.ran(p, false, 1.1);
    }
  // Of each 500 s times 1.1, told from two means of 500: one iteration of the second is still to come.
  const double of_second = 550 * std::sqrt(2.0 / 500);
  const double of_first = 499 * 1.1 * std::sqrt(1.0 / 500 + 1.0 / 499);
  EXPECT_NEAR(vouching.margin_with(1, 1.1), 3.719 * 0.01 * std::hypot(of_first, of_second), 1e-9);
}

TEST(Vouching, WhatWasNeverSeenAtTheFoundSettingIsNotVouchedFor) {
  const Job job = two_programs(100, 100);
  Vouching vouching(CostTable(job), job.found, 0.01, 0.05, Watts(0));
  EXPECT_TRUE(vouching.measures(0));
  for (int i = 0; i < 100; ++i) vouching.ran(0, true, 1);
  EXPECT_TRUE(std::isfinite(vouching.margin_with(0, 1.1)));
  EXPECT_TRUE(std::isinf(vouching.margin_with(1, 1.1)));
}

TEST(Vouching, WithoutNoiseNothingHasToBeMeasured) {
  for (const Job& job : {small_job(), two_programs(70, 30)}) {
    const auto found = run(job, 1000, 0);
    ASSERT_EQ(found.size(), job.programs.size() == 1 ? 3u : 2u);
    EXPECT_EQ(found[0].score.saving, found[1].score.saving);
    EXPECT_EQ(found[0].score.slowdown, found[1].score.slowdown);
  }
}

TEST(Vouching, LongerRunsPayLessAndStayInsideTheBoundAtEveryMoment) {
  const Job job = two_programs(70, 30);
  double paid = 1;
  for (const std::int64_t iterations : {1000, 10000, 100000}) {
    const auto found = run(job, iterations, 0.01);
    ASSERT_EQ(found.size(), 2u);
    const double part = 1 - found[0].score.saving / found[1].score.saving;
    EXPECT_GT(part, 0);
    EXPECT_LT(part, paid);
    paid = part;
    ASSERT_TRUE(found[0].rows[0].run.worst_running_slowdown);
    EXPECT_LT(*found[0].rows[0].run.worst_running_slowdown, 0.05);
  }
}

TEST(Vouching, WhoKnowsHowLongTheRunLastsSavesAsMuchOrALittleMore) {
  const auto found = run(small_job(), 4000, 0.01);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_LE(found[0].score.saving, found[2].score.saving);
  EXPECT_GE(found[0].score.saving, 0.9 * found[2].score.saving);
}

}  // namespace
}  // namespace rubato::lab
