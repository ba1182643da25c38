#include "plan/layers/strategies.h"

#include <gtest/gtest.h>

#include "plan/layers/price_search.h"
#include "plan/layers/tables.h"

namespace rubato::plan {
namespace {

/// Two settings of two clocks each: 1000 or 500 MHz, memory 5000 or 800 MHz, the default first.
SegmentTable of_clocks() {
  // A compute-heavy layer (slower by SM clock alone) and a memory-bound one (by memory clock alone).
  SegmentTable table = table_of(4, {{1, 100},
                                    {2, 120},
                                    {1, 90},
                                    {2, 110},  //
                                    {1, 80},
                                    {1, 60},
                                    {3, 150},
                                    {3, 120}});
  table.settings = {{1000_MHz, 5000_MHz}, {500_MHz, 5000_MHz}, {1000_MHz, 800_MHz}, {500_MHz, 800_MHz}};
  table.segments[0].intensity = 100;
  table.segments[1].intensity = 1;
  for (Segment& segment : table.segments) segment.ridge = 10;
  return table;
}

TEST(Strategies, AreFoundByNameAndTheirNamesAreListed) {
  for (const LayerStrategy& strategy : layer_strategies()) {
    const auto found = find_layer_strategy(strategy.name);
    ASSERT_TRUE(found);
    EXPECT_EQ((*found)->name, strategy.name);
  }
  const auto none = find_layer_strategy("best");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().hint, "use one of single, arithmetic-intensity, exhaustive, pass, phase");
}

TEST(Single, IsTheLeastEnergyInsideTheBound) {
  // 2 s and 180 J; 3.1 s and 150 J; 2.1 s and 170 J.
  const SegmentTable table = table_of(3, {{1, 90}, {1.5, 70}, {1, 85}, {1, 90}, {1.6, 80}, {1.1, 85}});
  EXPECT_EQ(best_single(table, {0.05, 0_W}), 2U);
  EXPECT_EQ(best_single(table, {0.60, 0_W}), 1U);
  EXPECT_EQ(best_single(table, {0.01, 0_W}), 0U);
  // With a host of 200 W a tenth of a second costs 20 J.
  EXPECT_EQ(best_single(table, {0.60, 200_W}), 0U);
}

TEST(ArithmeticIntensity, LowersWhatALayerDoesNotNeed) {
  const auto plan = plan_by_intensity(of_clocks(), {}, {0.05, 0_W});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->setting, (std::vector<std::size_t>{2, 1}));
  EXPECT_DOUBLE_EQ(plan->energy.value(), 150);
}

TEST(ArithmeticIntensity, StepsBackToTheDefaultWhereSwitchingBreaksTheBound) {
  const auto plan = plan_by_intensity(of_clocks(), same_for_all(4, Seconds(0.5), 0_s, 0_s), {0.05, 0_W});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->setting, (std::vector<std::size_t>{0, 0}));
}

TEST(ArithmeticIntensity, LeavesLayersOfUnknownRidgeAlone) {
  SegmentTable table = of_clocks();
  table.segments[0].ridge = 0;
  const auto plan = plan_by_intensity(table, {}, {0.05, 0_W});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->setting, (std::vector<std::size_t>{0, 1}));
}

TEST(Exhaustive, TakesEachLayersBestPairInsideItsOwnBound) {
  const auto plan = plan_exhaustive(of_clocks(), {}, {0.05, 0_W});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->setting, (std::vector<std::size_t>{2, 1}));
}

TEST(Exhaustive, IsRefusedWhereSwitchingAloneBreaksTheBound) {
  const auto plan = plan_exhaustive(of_clocks(), same_for_all(4, 0_s, Seconds(0.2), 0_s), {0.05, 0_W});
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::unavailable);
}

TEST(Pass, ChangesOnlyWhereAPassBegins) {
  Random random(8);
  for (int k = 0; k < 300; ++k) {
    SegmentTable table = random_table(random);
    const std::size_t half = table.segments.size() / 2;
    for (std::size_t i = half; i < table.segments.size(); ++i) table.segments[i].pass = LayerPass::backward;
    const LayerGoal goal{0.2, 0_W};
    const auto plan = plan_by_pass(table, {}, goal);
    ASSERT_TRUE(plan);
    double least = std::numeric_limits<double>::infinity();
    for_all_assignments(table, [&](const std::vector<std::size_t>& setting) {
      for (std::size_t i = 1; i < setting.size(); ++i)
        if (i != half && setting[i] != setting[i - 1]) return;
      const SegmentCost cost = cost_of(table, {}, setting);
      if (cost.time <= time_budget(table, 0.2) * (1 + 1e-12)) least = std::min(least, cost.energy.value());
    });
    ASSERT_NEAR(plan->energy.value() / least, 1, 1e-9);
  }
}

TEST(Refused, SaysHowLongAStretchWouldHaveToBe) {
  // The slow setting saves 20 J of 100 J in the last layer and costs 50 J in the others.
  const SegmentTable table = table_of(2, {{10, 1000}, {10, 1500}, {1, 100}, {1, 80}});
  const Switching switching = same_for_all(2, Seconds(0.6), 0_s, 0_s);
  const auto refusal = refused(table, switching, 0_W, {0, 0});
  EXPECT_EQ(refusal.stretches, 1U);
  EXPECT_NEAR(refusal.longest.value(), 1, 1e-12);
  // 0.6 s until it is there, and 0.6 s at 50 W too much afterwards, earned back at 20 W: 1.5 s.
  EXPECT_NEAR(refusal.needed.value(), 0.6 + 1.5, 1e-12);
  EXPECT_EQ(refused(table, {}, 0_W, {0, 1}).stretches, 0U);
}

/// Blocks of like segments, so many and at so many settings that not every pair is looked at at each price.
SegmentTable large_table() {
  Random random(9);
  std::vector<std::pair<double, double>> costs;
  double share = 0.5;
  for (std::size_t i = 0; i < 600; ++i) {
    if (i % 60 == 0) share = random.uniform(0, 1);
    for (int a = 0; a < 64; ++a) {
      const double clock = 1 - 0.01 * a;
      const double time = 1e-3 * (share / clock + 1 - share);
      costs.emplace_back(time, time * (40 + 160 * clock * clock * clock));
    }
  }
  return table_of(64, costs);
}

TEST(PriceSearch, OfALargeTableIsNearItsOwnBoundAndKeepsTheBudget) {
  const SegmentTable table = large_table();
  const LayerGoal goal{0.05, 0_W};
  const std::vector<bool> anywhere(table.segments.size(), true);
  for (const Switching& switching : {Switching{}, same_for_all(64, 5_ms, 0_s, 5_ms)}) {
    const std::size_t single = best_single(table, goal);
    const PriceAnswer answer = search_by_price(table, switching, goal, anywhere, single);
    const SegmentCost cost = cost_of(table, switching, answer.setting);
    EXPECT_LE(cost.time, time_budget(table, 0.05) * (1 + 1e-12));
    EXPECT_NEAR(cost.energy.value(), answer.joules, 1e-9);
    EXPECT_LT(answer.joules, uniform_cost(table, single).energy.value() * 0.99);
    EXPECT_LE(answer.bound, answer.joules);
    EXPECT_LT(answer.joules / answer.bound, 1.005);
  }
}

}  // namespace
}  // namespace rubato::plan
