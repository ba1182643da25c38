// Hours of a job that changes again and again, or drifts: what is known of it stays known.
#include <gtest/gtest.h>

#include <optional>
#include <string_view>

#include "base/fnv1a.h"
#include "govern/registry.h"
#include "lab/oracle.h"
#include "lab/replay.h"
#include "lab/suites.h"

namespace rubato::lab {
namespace {

constexpr double kBound = 0.05;
constexpr std::int64_t kTwentyMinutes = 4'000;
constexpr std::int64_t kThreeHours = 36'000;
constexpr std::int64_t kTenHours = 120'000;

struct Ran {
  Standing fixed;  // the best fixed setting
  Replayed run;
};

std::optional<Ran> rubato_on(std::string_view suite, std::string_view name, NoiseModel noise,
                             std::int64_t iterations, std::uint64_t seed = 1) {
  const auto jobs = suite_named(suite);
  if (!jobs) return std::nullopt;
  for (const Job& job : *jobs) {
    if (job.name != name) continue;
    govern::StrategyRequest request;
    request.goal.max_slowdown = kBound;
    request.goal.host_watts = Watts(0);
    request.space = job.space;
    request.seed = fnv1a(job.name) + seed;
    const auto strategy = govern::make_strategy("rubato", request);
    if (!strategy) return std::nullopt;
    const CostTable costs(job);
    const Draw drawn = draw({.model = noise}, job.name, seed, iterations, job.programs.front().iteration);
    return Ran{oracles_of(fixed_runs(job, costs, drawn, iterations, Watts(0)), job.found, kBound).fixed,
               replay(job, costs, drawn, **strategy, iterations, Watts(0))};
  }
  return std::nullopt;
}

TEST(LongRuns, AJobWhoseProgramsComeBackKeepsWhatItLearned) {
  const auto ran = rubato_on("time-varying", "slow-storage-v100", NoiseModel::iid, kThreeHours);
  ASSERT_TRUE(ran) << "the suite has another job no more";
  EXPECT_GE(ran->run.saving, 0.82 * ran->fixed.saving) << "at first it was 0.46";
  EXPECT_LE(ran->run.slowdown, kBound);
}

TEST(LongRuns, SecondsAreSpentInTheProgramWhereTheySaveMost) {
  const auto ran = rubato_on("time-varying", "play-and-learn-a100", NoiseModel::iid, kThreeHours);
  ASSERT_TRUE(ran) << "the suite has another job no more";
  EXPECT_GE(ran->run.saving, 0.90 * ran->fixed.saving) << "each by itself could save 0.92 at most";
  EXPECT_LE(ran->run.slowdown, kBound);
}

TEST(LongRuns, WhatRanUnnoticedIsNotTakenForAnotherProgramsCurve) {
  for (const std::uint64_t seed : {13u, 14u, 15u}) {
    const auto ran = rubato_on("time-varying", "slow-storage-v100", NoiseModel::iid, kTwentyMinutes, seed);
    ASSERT_TRUE(ran) << "the suite has another job no more";
    EXPECT_LE(ran->run.slowdown, kBound) << "seed " << seed << "; of 13 it was 5.4 %";
  }
}

TEST(LongRuns, AJobThatDriftsIsKnownBetterTheLongerItRuns) {
  const auto ran = rubato_on("v100", "resnet50-b96-amp", NoiseModel::drift, kTenHours);
  ASSERT_TRUE(ran) << "the suite has another job no more";
  EXPECT_GE(ran->run.saving, 0.9 * ran->fixed.saving) << "at first it was 0.79";
  EXPECT_LE(ran->run.slowdown, kBound);
  EXPECT_LE(ran->run.worst_running_slowdown.value_or(0), kBound);
}

}  // namespace
}  // namespace rubato::lab
