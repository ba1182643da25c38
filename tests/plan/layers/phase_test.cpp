#include <gtest/gtest.h>

#include "plan/layers/tables.h"

namespace rubato::plan {
namespace {

SegmentPlan plan(std::string_view strategy, const SegmentTable& table, const Switching& switching,
                 const LayerGoal& goal) {
  const auto found = find_layer_strategy(strategy);
  EXPECT_TRUE(found);
  auto out = (*found)->plan(table, switching, goal);
  EXPECT_TRUE(out) << out.error().what;
  return *out;
}

double joules(const SegmentPlan& plan, const LayerGoal& goal) {
  return joules_with({plan.time, plan.energy}, goal.host);
}

TEST(Phase, WithoutDelayIsTheLeastOfAllAssignmentsUnderASharedBudget) {
  Random random(1);
  for (int k = 0; k < 10'000; ++k) {
    const SegmentTable table = random_table(random);
    const LayerGoal goal{random.uniform(0, 0.3), Watts(k % 3 == 0 ? 50 : 0)};
    const SegmentPlan found = plan("phase", table, {}, goal);
    EXPECT_LE(found.time, time_budget(table, goal.max_slowdown) * (1 + 1e-12));
    ASSERT_NEAR(joules(found, goal) / least_by_trying_all(table, {}, goal), 1, 1e-9) << "case " << k;
  }
}

TEST(Phase, WithOneDelayForAllIsTheLeastOfAllAssignments) {
  Random random(2);
  for (int k = 0; k < 3'000; ++k) {
    const SegmentTable table = random_table(random);
    const Seconds delay(random.uniform(0, 1.5));
    const Seconds stall(k % 2 == 0 ? 0 : random.uniform(0, 0.1));
    const Switching switching = same_for_all(table.settings.size(), delay, stall, delay + stall);
    const LayerGoal goal{random.uniform(0, 0.3), Watts(k % 3 == 0 ? 50 : 0)};
    const SegmentPlan found = plan("phase", table, switching, goal);
    ASSERT_NEAR(joules(found, goal) / least_by_trying_all(table, switching, goal), 1, 1e-9) << "case " << k;
  }
}

TEST(Phase, WithADelayForEachPairIsTheLeastOfAllAssignments) {
  Random random(3);
  for (int k = 0; k < 3'000; ++k) {
    const SegmentTable table = random_table(random);
    const std::size_t pairs = table.settings.size() * table.settings.size();
    Switching switching{.delay = {}, .stall = {}, .stalled = 60_W, .dwell = 0_s};
    for (std::size_t p = 0; p < pairs; ++p) switching.delay.emplace_back(random.uniform(0, 1));
    if (k % 2 == 0)
      for (std::size_t p = 0; p < pairs; ++p) switching.stall.emplace_back(random.uniform(0, 0.05));
    const LayerGoal goal{random.uniform(0, 0.3), 0_W};
    const SegmentPlan found = plan("phase", table, switching, goal);
    ASSERT_NEAR(joules(found, goal) / least_by_trying_all(table, switching, goal), 1, 1e-9) << "case " << k;
  }
}

TEST(Phase, WithALongDwellKeepsItAndIsNoWorseThanOneSetting) {
  Random random(4);
  for (int k = 0; k < 2'000; ++k) {
    const SegmentTable table = random_table(random);
    const Switching switching = same_for_all(table.settings.size(), Seconds(random.uniform(0, 0.5)), 0_s,
                                             Seconds(random.uniform(0.5, 2)));
    const LayerGoal goal{random.uniform(0, 0.3), 0_W};
    const SegmentPlan found = plan("phase", table, switching, goal);
    const SegmentPlan single = plan("single", table, switching, goal);
    EXPECT_LE(found.energy.value(), single.energy.value() * (1 + 1e-12));
    EXPECT_LE(found.time, time_budget(table, goal.max_slowdown) * (1 + 1e-12));
    const auto requests = run_iteration(table, switching, found.setting).requests;
    for (std::size_t r = 1; r < requests.size(); ++r)
      EXPECT_GE(requests[r].after - requests[r - 1].after, switching.dwell * (1 - 1e-9));
    ASSERT_LE(joules(found, goal) / least_by_trying_all(table, switching, goal), 1 + 1e-9) << "case " << k;
  }
}

TEST(Phase, AsksForNoMoreThanIsSentAndIsNoWorseThanOneSetting) {
  Random random(8);
  int limited = 0;
  for (int k = 0; k < 2'000; ++k) {
    const SegmentTable table = random_table(random);
    Switching switching = same_for_all(table.settings.size(), Seconds(random.uniform(0, 0.2)), 0_s, 0.1_s);
    const LayerGoal goal{random.uniform(0, 0.3), 0_W};
    const SegmentPlan free = plan("phase", table, switching, goal);
    switching.most_per_second = random.uniform(0.2, 1);
    for (const char* strategy : {"phase", "pass"}) {
      const SegmentPlan found = plan(strategy, table, switching, goal);
      EXPECT_LE(found.changes, switching.most_per_second * found.time.value() * (1 + 1e-6)) << "case " << k;
      EXPECT_LE(found.energy.value(), plan("single", table, switching, goal).energy.value() * (1 + 1e-12));
      EXPECT_LE(found.time, time_budget(table, goal.max_slowdown) * (1 + 1e-12));
      EXPECT_GE(found.energy.value(), free.energy.value() * (1 - 1e-12));
      // As it is written and run: with the dwell that it was made for.
      Switching made_for = switching;
      made_for.dwell = found.dwell;
      EXPECT_NEAR(cost_of(table, made_for, found.setting).energy.value(), found.energy.value(), 1e-9);
      limited += found.dwell > switching.dwell ? 1 : 0;
    }
  }
  EXPECT_GT(limited, 200);
}

TEST(Phase, IsNeverAbovePass) {
  Random random(9);
  for (int k = 0; k < 500; ++k) {
    SegmentTable table = random_table(random);
    for (std::size_t i = table.segments.size() / 2; i < table.segments.size(); ++i)
      table.segments[i].pass = LayerPass::backward;
    Switching switching = same_for_all(table.settings.size(), Seconds(random.uniform(0, 0.5)), 0_s, 0.3_s);
    switching.most_per_second = k % 2 == 0 ? 0 : 1;
    const LayerGoal goal{0.1, 0_W};
    EXPECT_LE(plan("phase", table, switching, goal).energy.value(),
              plan("pass", table, switching, goal).energy.value() * (1 + 1e-12));
  }
}

TEST(Phase, EqualsTheBestSingleSettingWhereSwitchingCannotPay) {
  Random random(5);
  for (int k = 0; k < 1'000; ++k) {
    const SegmentTable table = random_table(random);
    // Longer than any iteration: no change is ever over within one.
    const Switching switching = same_for_all(table.settings.size(), 100_s, 0_s, 100_s);
    const LayerGoal goal{0.1, 0_W};
    const SegmentPlan found = plan("phase", table, switching, goal);
    EXPECT_EQ(found.changes, 0);
    EXPECT_EQ(found.setting, plan("single", table, switching, goal).setting);
  }
}

TEST(Phase, ASettingThatSomeSegmentsCannotRunAtIsUsedForTheOthers) {
  Random random(6);
  for (int k = 0; k < 2'000; ++k) {
    SegmentTable table = random_table(random);
    for (std::size_t i = 0; i < table.segments.size(); ++i)
      if (const auto a = random.index(table.settings.size()); a != table.at_default)
        table.costs[i * table.settings.size() + a] = {Seconds(1),
                                                      Joules(std::numeric_limits<double>::infinity())};
    const Switching switching =
        same_for_all(table.settings.size(), Seconds(random.uniform(0, 0.5)), 0_s, 0_s);
    const LayerGoal goal{0.2, 0_W};
    const SegmentPlan found = plan("phase", table, switching, goal);
    ASSERT_NEAR(found.energy.value() / least_by_trying_all(table, switching, goal), 1, 1e-9) << "case " << k;
  }
}

TEST(Phase, NoStrategyHasLessEnergyInsideTheBound) {
  Random random(7);
  for (int k = 0; k < 1'000; ++k) {
    const SegmentTable table = random_table(random);
    const Switching switching =
        same_for_all(table.settings.size(), Seconds(random.uniform(0, 0.5)), 0_s, 0_s);
    const LayerGoal goal{0.1, 0_W};
    const SegmentPlan found = plan("phase", table, switching, goal);
    for (const LayerStrategy& other : layer_strategies()) {
      const auto theirs = other.plan(table, switching, goal);
      if (!theirs || !run_iteration(table, switching, theirs->setting).repeats) continue;
      EXPECT_LE(theirs->time, time_budget(table, goal.max_slowdown) * (1 + 1e-11)) << other.name;
      EXPECT_LE(found.energy.value(), theirs->energy.value() * (1 + 1e-9)) << other.name;
    }
  }
}

}  // namespace
}  // namespace rubato::plan
