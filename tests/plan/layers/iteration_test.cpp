#include "plan/layers/iteration.h"

#include <gtest/gtest.h>

#include "plan/layers/tables.h"

namespace rubato::plan {
namespace {

using Setting = std::vector<std::size_t>;

// Two segments of 1 s at 100 W; the lower setting takes 2 s at 40 W.
SegmentTable two_segments() {
  return table_of(2, {{1, 100}, {2, 80}, {1, 100}, {2, 80}});
}

TEST(Iteration, OfOneSettingIsTheSumOfItsSegments) {
  const SegmentCost cost = cost_of(two_segments(), same_for_all(2, 1_s, 1_s, 1_s), Setting{1, 1});
  EXPECT_DOUBLE_EQ(cost.time.value(), 4);
  EXPECT_DOUBLE_EQ(cost.energy.value(), 160);
}

TEST(Iteration, TheTailRunsAtTheOldClocksOnBothSides) {
  // Segment 0: 0.4 s of its 2 s worth of slow work are done fast: 0.4 of it; then 0.6 * 2 s slowly.
  // Segment 1: 0.4 s slowly are a fifth of it; then 0.8 s fast.
  const Iteration iteration =
      run_iteration(two_segments(), same_for_all(2, Seconds(0.4), 0_s, 0_s), Setting{1, 0});
  EXPECT_NEAR(iteration.cost.time.value(), 0.4 + 1.2 + 0.4 + 0.8, 1e-12);
  EXPECT_NEAR(iteration.cost.energy.value(), 40 + 48 + 16 + 80, 1e-12);
  EXPECT_DOUBLE_EQ(iteration.changes, 2);
  ASSERT_EQ(iteration.requests.size(), 2U);
  EXPECT_NEAR(iteration.requests[1].after.value(), 1.6, 1e-12);
}

TEST(Iteration, AStallIsPaidForEachChange) {
  const SegmentCost cost = cost_of(two_segments(), same_for_all(2, 0_s, Seconds(0.5), 0_s), Setting{1, 0});
  EXPECT_NEAR(cost.time.value(), 3 + 2 * 0.5, 1e-12);
  EXPECT_NEAR(cost.energy.value(), 180 + 2 * 30, 1e-12);
}

TEST(Iteration, ADelayLongerThanTheSegmentReachesIntoTheNext) {
  // Asked for at segment 0, the slow setting comes 1.5 s later: in the middle of segment 1. That wish (fast)
  // is not made while the other is under way; it is at segment 2.
  const SegmentTable table =
      table_of(2, {{1, 100}, {2, 80}, {1, 100}, {2, 80}, {1, 100}, {2, 80}, {1, 100}, {2, 80}});
  const Iteration iteration =
      run_iteration(table, same_for_all(2, Seconds(1.5), 0_s, 0_s), Setting{1, 0, 0, 0});
  ASSERT_EQ(iteration.requests.size(), 2U);
  EXPECT_EQ(iteration.requests[1].segment, 2U);
  // 1.5 fast, half of segment 1 slowly (1 s), three quarters of segment 2 slowly, the rest fast.
  EXPECT_NEAR(iteration.cost.time.value(), 1.5 + 1 + 1.5 + 0.25 + 1, 1e-12);
  EXPECT_TRUE(iteration.repeats);
}

TEST(Iteration, ARequestInsideTheDwellIsLeftToTheNextSegment) {
  const Iteration iteration = run_iteration(two_segments(), same_for_all(2, 0_s, 0_s, 10_s), Setting{1, 0});
  // Slow for 10 s and fast for 10 s, whatever the plan wants: five iterations and more of either.
  EXPECT_FALSE(iteration.repeats);
  EXPECT_LT(iteration.changes, 0.5);
}

TEST(Iteration, ASettingThatASegmentCannotRunAtCostsInfinitelyMuch) {
  SegmentTable table = two_segments();
  table.costs[3] = {Seconds(2), Joules(std::numeric_limits<double>::infinity())};
  EXPECT_TRUE(std::isinf(cost_of(table, {}, Setting{0, 1}).energy.value()));
  EXPECT_TRUE(std::isfinite(cost_of(table, {}, Setting{1, 0}).energy.value()));
}

/// The same told another way: in steps of time, far smaller than anything that happens.
SegmentCost in_small_steps(const SegmentTable& table, const Switching& switching, const Setting& setting) {
  constexpr double kStep = 1e-4;
  constexpr int kBefore = 6;
  const std::size_t settings = table.settings.size();
  std::size_t in_force = setting.back();
  std::size_t asked = in_force;
  double now = 0, arrives = 0, stalled_until = 0, time = 0, energy = 0;
  double asked_at = -1e9;
  for (int iteration = 0; iteration <= kBefore; ++iteration) {
    if (iteration == kBefore) time = energy = 0;
    for (std::size_t i = 0; i < setting.size(); ++i) {
      if (setting[i] != asked && asked == in_force && now - asked_at >= switching.dwell.value() - kStep / 2) {
        asked = setting[i];
        asked_at = now;
        arrives = now + switching.delay_of(in_force, asked, settings).value();
      }
      for (double done = 0; done < 1;) {
        if (asked != in_force && now >= arrives - kStep / 2) {
          stalled_until = now + switching.stall_of(in_force, asked, settings).value();
          in_force = asked;
        }
        const SegmentCost& cost = table.cost(i, in_force);
        const bool stalled = now < stalled_until - kStep / 2;
        energy += (stalled ? switching.stalled : cost.energy / cost.time).value() * kStep;
        if (!stalled) done += kStep / cost.time.value();
        now += kStep;
        time += kStep;
      }
    }
  }
  return {Seconds(time), Joules(energy)};
}

TEST(Iteration, CostsWhatSmallStepsOfTimeSay) {
  Random random(11);
  int looked_at = 0;
  for (int k = 0; k < 60; ++k) {
    const SegmentTable table = random_table(random);
    const Switching switching = same_for_all(table.settings.size(), Seconds(random.uniform(0, 1.5)),
                                             Seconds(random.uniform(0, 0.2)), Seconds(random.uniform(0, 1)));
    Setting setting;
    for (std::size_t i = 0; i < table.segments.size(); ++i)
      setting.push_back(random.index(table.settings.size()));
    const Iteration iteration = run_iteration(table, switching, setting);
    if (!iteration.repeats) continue;
    ++looked_at;
    const SegmentCost steps = in_small_steps(table, switching, setting);
    EXPECT_NEAR(steps.time / iteration.cost.time, 1, 2e-3);
    EXPECT_NEAR(steps.energy / iteration.cost.energy, 1, 2e-3);
  }
  EXPECT_GT(looked_at, 40);
}

TEST(Iteration, TablesThatDoNotFitAreRefused) {
  SegmentTable table = two_segments();
  EXPECT_TRUE(check_table(table, {}));
  EXPECT_FALSE(check_table(table, same_for_all(3, 0_s, 0_s, 0_s)));
  table.costs.pop_back();
  const Status refusal = check_table(table, {});
  ASSERT_FALSE(refusal);
  EXPECT_EQ(refusal.error().what, "3 costs for 2 segments at 2 settings");
  EXPECT_FALSE(check_table({}, {}));
}

}  // namespace
}  // namespace rubato::plan
