#include "govern/switch_strategy.h"

#include <gmock/gmock.h>

#include <vector>

namespace rubato::govern {
namespace {

const Setting kLimit{.power_limit = 150_W};
const Setting kClock{.sm_clock = ClockRange{1005_MHz, 1005_MHz}};

struct Change {
  double at_s;
  Setting to;
};

/// A job with an iteration every 0.1 s that is loaded from the first second on.
std::vector<Change> changes(SwitchStrategy& strategy, double length_s, bool may_set = true,
                            Megahertz clock = 1380_MHz) {
  std::vector<Change> out;
  Observation o;
  o.highest_sm_clock = 1380_MHz;
  o.under_load = true;
  o.may_set = may_set;
  for (double t = 0; t < length_s; t += 0.1) {
    o.now = TimePoint{} + Seconds(t);
    ++o.iterations;
    o.state = SlowReading{.at = o.now, .sm_clock = clock};
    const Decision d = strategy.next(o);
    const Setting to = d.action == Action::use_setting ? d.setting : Setting{};
    if (d.action == Action::wait || to == o.in_force) continue;
    o.in_force = to;
    out.push_back({t, to});
  }
  return out;
}

TEST(SwitchStrategy, GoesThereAndBackForEachTargetAndEndsAsFound) {
  SwitchStrategy strategy({{kLimit, kClock}, 2, Seconds(4)}, Random(1));
  const auto made = changes(strategy, 120);
  ASSERT_EQ(made.size(), 8);
  for (std::size_t i = 0; i < made.size(); ++i)
    EXPECT_EQ(made[i].to, i % 2 == 1 ? Setting{} : i < 4 ? kLimit : kClock);
  EXPECT_TRUE(strategy.through());
}

TEST(SwitchStrategy, HoldsEachLongEnoughAndNotAlwaysAsLong) {
  SwitchStrategy strategy({{kLimit}, 8, Seconds(4)}, Random(1));
  const auto made = changes(strategy, 120);
  ASSERT_EQ(made.size(), 16);
  double least = 100;
  double most = 0;
  for (std::size_t i = 1; i < made.size(); ++i) {
    const double held = made[i].at_s - made[i - 1].at_s;
    least = std::min(least, held);
    most = std::max(most, held);
  }
  EXPECT_GE(least, 4 - 0.01);
  EXPECT_LE(most, 4.5 + 0.3);
  EXPECT_GT(most - least, 0.1);
}

TEST(SwitchStrategy, SetsNothingWithoutTheRightAndBeforeTheJobRuns) {
  SwitchStrategy strategy({{kLimit}, 2, Seconds(4)}, Random(1));
  EXPECT_TRUE(changes(strategy, 60, false).empty());
  EXPECT_FALSE(strategy.through());
}

TEST(SwitchStrategy, LeavesAClockAloneThatSomebodyMayHaveLocked) {
  SwitchStrategy strategy({{kClock}, 2, Seconds(4)}, Random(1));
  EXPECT_TRUE(changes(strategy, 60, true, 900_MHz).empty());
  EXPECT_TRUE(strategy.through());

  SwitchStrategy stated({{kClock}, 2, Seconds(4), true}, Random(1));
  EXPECT_EQ(changes(stated, 60, true, 900_MHz).size(), 4);
}

}  // namespace
}  // namespace rubato::govern
