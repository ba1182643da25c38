#include "lab/replay.h"

#include <gtest/gtest.h>

#include "govern/measure_only_strategy.h"
#include "lab/oracle.h"
#include "scripted.h"
#include "small_job.h"

namespace rubato::lab {
namespace {

Draw quiet(std::int64_t iterations) {
  return draw({NoiseModel::iid, 0}, "small", 1, iterations, Seconds(1));
}

Replayed replayed(const Job& job, govern::Strategy& strategy, const Draw& disturbance) {
  return replay(job, CostTable(job), disturbance, strategy,
                static_cast<std::int64_t>(disturbance.seen_time.size()), Watts(0));
}

TEST(Replay, NothingChangedSavesNothing) {
  govern::MeasureOnlyStrategy nothing("a test");
  const Replayed run =
      replayed(small_job(), nothing, draw({NoiseModel::steps, 0.01}, "small", 1, 2000, Seconds(1)));
  EXPECT_EQ(run.saving, 0);
  EXPECT_EQ(run.slowdown, 0);
  EXPECT_EQ(run.changes, 0);
  EXPECT_FALSE(run.settled_after);
}

TEST(Replay, ADecisionActsFromTheNextIterationOn) {
  // Two of ten iterations at 130 W: a fifth of 10 %.
  Scripted two([](const govern::Observation& seen) {
    if (seen.iterations == 4) return limit(130, BlockRole::trial);
    if (seen.iterations == 6) return govern::Decision{govern::Action::use_found, {}, BlockRole::hold, {}, {}};
    return stay();
  });
  const Replayed run = replayed(small_job(), two, quiet(10));
  EXPECT_NEAR(run.slowdown, 0.02, 1e-12);
  EXPECT_NEAR(run.saving, 0.02, 1e-12);
  EXPECT_EQ(run.settings_tried, 1);
  EXPECT_EQ(run.settled_after, 6);
}

TEST(Replay, TalliesHoldWhatIterationsCost) {
  double work = -1;
  Scripted looker([&](const govern::Observation& seen) {
    EXPECT_NEAR((seen.tally->at - seen.run_begin).value(), 1.0 * static_cast<double>(seen.iterations), 1e-9);
    EXPECT_NEAR(seen.tally->energy->value(), 140.0 * static_cast<double>(seen.iterations), 1e-9);
    EXPECT_EQ(seen.tally->work, work + 1);
    EXPECT_TRUE(seen.in_force.empty());
    work = seen.tally->work;
    return stay();
  });
  static_cast<void>(replayed(small_job(), looker, quiet(5)));
  EXPECT_EQ(work, 4);
}

TEST(Replay, TriesEndWithTheFirstHoldAndLaterOnesAreRechecks) {
  Scripted busy([](const govern::Observation& seen) {
    switch (seen.iterations) {
      case 1:
        return limit(130, BlockRole::trial);
      case 2:
        return limit(120, BlockRole::trial);
      case 3:
        return limit(130, BlockRole::trial);
      case 4:
        return limit(110, BlockRole::hold);
      case 6:
        return limit(120, BlockRole::trial);
      case 7:
        return stay(BlockRole::trial);
      case 8:
        return limit(110, BlockRole::hold);
      default:
        return stay();
    }
  });
  const Replayed run = replayed(small_job(), busy, quiet(20));
  EXPECT_EQ(run.settings_tried, 2);
  EXPECT_EQ(run.settings_rechecked, 1);
  EXPECT_EQ(run.settled_after, 4);
  EXPECT_EQ(run.changes, 6);
}

TEST(Replay, ASettingBetweenTheStepsGoesToTheNearest) {
  Setting in_force;
  Scripted between([&](const govern::Observation& seen) {
    in_force = seen.in_force;
    return seen.iterations == 0 ? limit(121.5, BlockRole::trial) : stay();
  });
  EXPECT_NEAR(replayed(small_job(), between, quiet(10)).slowdown, 0.2, 1e-12);
  EXPECT_EQ(in_force.power_limit, Watts(120));
}

TEST(Replay, TheRunSoFarIsJudgedOnceFiveMinutesHavePassed) {
  Scripted slow_start([](const govern::Observation& seen) {
    if (seen.iterations == 0) return limit(100, BlockRole::trial);
    if (seen.iterations == 100)
      return govern::Decision{govern::Action::use_found, {}, BlockRole::hold, {}, {}};
    return stay();
  });
  // 100 iterations of 1.4 s and 160 of 1 s: 300 s, of which 40 are lost.
  const Replayed run = replayed(small_job(), slow_start, quiet(1000));
  ASSERT_TRUE(run.worst_running_slowdown);
  EXPECT_NEAR(*run.worst_running_slowdown, 40.0 / 260, 1e-9);
  EXPECT_FALSE(replayed(small_job(), slow_start, quiet(200)).worst_running_slowdown);
}

TEST(Replay, TheOracleSavesExactlyWhatTheBestFixedSettingDoesUnderEveryNoise) {
  Job job = small_job();
  Truth other = job.programs.front();
  other.energy = {0.9, 0.7, 0.8, 0.95, 1.0};
  other.iteration = Seconds(2);
  job.programs.push_back(other);
  job.phases = {{0, 100}, {1, 30}};
  const CostTable costs(job);
  for (const NoiseModel model :
       {NoiseModel::iid, NoiseModel::drift, NoiseModel::heavy_tail, NoiseModel::steps}) {
    const Draw disturbance = draw({model, 0.01}, job.name, 5, 2000, Seconds(1));
    const auto runs = fixed_runs(job, costs, disturbance, 2000, Watts(50));
    const Oracles oracles = oracles_of(runs, job.found, 0.25);
    Setting best;
    best.power_limit = job.grid[oracles.setting].power_limit;
    const auto oracle = make_oracle(best);
    const Replayed run = replay(job, costs, disturbance, *oracle, 2000, Watts(50));
    EXPECT_GT(run.saving, 0.05);
    EXPECT_NEAR(run.saving, oracles.fixed.saving, 1e-9) << name_of(model);
    EXPECT_NEAR(run.slowdown, oracles.fixed.slowdown, 1e-9) << name_of(model);
    EXPECT_EQ(run.settings_tried, 0);
    EXPECT_EQ(run.settled_after, 0);
  }
}

TEST(Replay, HostWattsCountWhileTheJobIsSlower) {
  const auto at_100 = [](Watts host) {
    Scripted slow([](const govern::Observation& seen) {
      return seen.iterations == 0 ? limit(100, BlockRole::hold) : stay();
    });
    const Job job = small_job();
    return replay(job, CostTable(job), quiet(10), slow, 10, host).saving;
  };
  EXPECT_NEAR(at_100(Watts(0)), 0.4, 1e-12);
  // 140 W of host: 1 - (0.6 + 1.4) / 2.
  EXPECT_NEAR(at_100(Watts(140)), 0.0, 1e-12);
}

TEST(Replay, PhasesTakeTurnsByIterations) {
  Job job = small_job();
  job.programs.push_back(job.programs.front());
  job.programs[1].iteration = Seconds(3);
  job.phases = {{0, 2}, {1, 1}};
  const auto runs = fixed_runs(job, CostTable(job), quiet(7), 7, Watts(0));
  EXPECT_NEAR(runs[job.found].time, 1 + 1 + 3 + 1 + 1 + 3 + 1, 1e-12);
}

}  // namespace
}  // namespace rubato::lab
