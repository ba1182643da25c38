// The study against the simulated world's own truth, in virtual time.
#include "experiment/latency/study.h"

#include <gmock/gmock.h>

#include "experiment/latency/simulated_bench.h"

namespace rubato::experiment {
namespace {

StudyPlan plan_for(const SimulatedBench& bench, Megahertz highest, unsigned repeats) {
  StudyPlan plan;
  plan.repeats = repeats;
  plan.sm_step = bench.profile().sm_clocks[1] - bench.profile().sm_clocks[0];
  plan.power_period = bench.profile().instant.period;
  plan.power_window = bench.profile().instant.window;
  plan.pairs = usual_pairs(bench.profile().sm_clocks, highest, bench.memory());
  return plan;
}

Seconds true_median(SimulatedBench& bench, const ClockPair& pair) {
  std::vector<Seconds> each;
  for (int i = 0; i < 5; ++i) each.push_back(bench.true_delay(pair));
  std::sort(each.begin(), each.end());
  return each[2];  // outliers are left behind
}

struct Board {
  const char* profile;
  std::uint64_t seed;
};

class LatencyOf : public testing::TestWithParam<Board> {};

TEST_P(LatencyOf, EveryPairIsFoundWithinFivePercentOfWhatTheBoardReallyTakes) {
  const auto [profile, seed] = GetParam();
  SimulatedBench bench(profile, seed, "calibrate-latency");  // far below any power limit
  LatencyStudy study(plan_for(bench, bench.profile().sm_clocks.back(), 10), Random(99));
  ASSERT_TRUE(bench.conduct(study));
  const auto table = study.table();
  ASSERT_TRUE(table) << table.error().what;
  ASSERT_EQ(table->pairs.size(), kUsualPairs);
  SimulatedBench another(profile, seed, "calibrate-latency");
  for (const PairLatency& pair : table->pairs) {
    ASSERT_TRUE(pair.clock) << pair.why_not;
    EXPECT_EQ(pair.clock->n, 10U);
    const Seconds truth = true_median(another, {pair.from, pair.to});
    EXPECT_NEAR(pair.clock->median.value(), truth.value(), 0.05 * truth.value())
        << pair.from.sm.value() << " to " << pair.to.sm.value();
  }
}

TEST_P(LatencyOf, AnOutlierIsCountedAndNeitherHiddenNorTakenForTheUsual) {
  const auto [profile, seed] = GetParam();
  SimulatedBench bench(profile, seed, "calibrate-latency");
  LatencyStudy study(plan_for(bench, bench.profile().sm_clocks.back(), 30), Random(99));
  ASSERT_TRUE(bench.conduct(study));
  const auto table = study.table();
  ASSERT_TRUE(table) << table.error().what;
  const auto& truth = bench.profile().clock_latency;
  // 360 changes, 2 % of them: 7 expected, none with a probability of 1 in 1400.
  ASSERT_EQ(table->overall.n, 360U);
  EXPECT_GE(table->overall.outliers, 1U);
  EXPECT_LE(table->overall.outliers, 20U);
  EXPECT_NEAR(table->overall.worst.value(), truth.outlier.value(), 0.05 * truth.outlier.value());
  EXPECT_LT(table->overall.p95, truth.outlier);
}

INSTANTIATE_TEST_SUITE_P(Simulated, LatencyOf,
                         testing::Values(Board{"rtxa4000", 1}, Board{"rtxa4000", 7}, Board{"v100", 2},
                                         Board{"h100", 5}),
                         [](const auto& board) {
                           return std::string(board.param.profile) + "_" + std::to_string(board.param.seed);
                         });

TEST(LatencyStudyOnASimulatedGpu, PowerFollowsWithinTheSensorsOwnPeriods) {
  SimulatedBench bench("rtxa4000", 3);
  auto plan = plan_for(bench, Megahertz(1500), 6);
  LatencyStudy study(plan, Random(4));
  ASSERT_TRUE(bench.conduct(study));
  const auto table = study.table();
  ASSERT_TRUE(table) << table.error().what;
  unsigned seen = 0;
  for (const PairLatency& pair : table->pairs) {
    if (!pair.power) continue;
    ++seen;
    EXPECT_GT(pair.power->median, pair.clock->median);
    // Shown at the end of the first whole averaging window after the change, in the worst case.
    EXPECT_LT(pair.power->median - pair.clock->median,
              *plan.power_period + *plan.power_window + Seconds(0.03));
  }
  EXPECT_GE(seen, 6U) << "the larger steps stand out of the readings";
}

TEST(LatencyStudyOnASimulatedGpu, AClockThatThePowerLimitTakesAwayIsLeftOutAndSaysWhy) {
  SimulatedBench bench("rtxa4000", 3);
  auto plan = plan_for(bench, Megahertz(1500), 5);
  const ClockPair fine = plan.pairs.front();
  plan.pairs = {fine, {{Megahertz(2100), bench.memory()}, {Megahertz(1200), bench.memory()}}};
  LatencyStudy study(plan, Random(4));
  ASSERT_TRUE(bench.conduct(study));
  const auto table = study.table();
  ASSERT_TRUE(table) << table.error().what;
  EXPECT_EQ(table->pairs[0].clock->n, 5U);
  EXPECT_FALSE(table->pairs[1].clock);
  EXPECT_EQ(table->pairs[1].lost, 2U) << "it is not tried again and again";
  EXPECT_THAT(table->pairs[1].why_not, testing::HasSubstr("the power limit"));
}

TEST(LatencyStudyOnASimulatedGpu, MemoryClocksAreTimedWhereTheBoardLocksThem) {
  SimulatedBench bench("rtxa4000", 3, "calibrate-latency");
  auto plan = plan_for(bench, Megahertz(1500), 5);
  const std::vector<Megahertz> memory{Megahertz(5001), Megahertz(6501), Megahertz(7001)};
  plan.pairs = memory_pairs(memory, Megahertz(1200));
  plan.memory_clock = true;
  LatencyStudy study(plan, Random(4));
  ASSERT_TRUE(bench.conduct(study));
  const auto table = study.table();
  ASSERT_TRUE(table) << table.error().what;
  SimulatedBench another("rtxa4000", 3, "calibrate-latency");
  for (const PairLatency& pair : table->pairs) {
    ASSERT_TRUE(pair.clock) << pair.why_not;
    const Seconds truth = true_median(another, {pair.from, pair.to});
    EXPECT_NEAR(pair.clock->median.value(), truth.value(), 0.05 * truth.value());
  }
}

}  // namespace
}  // namespace rubato::experiment
