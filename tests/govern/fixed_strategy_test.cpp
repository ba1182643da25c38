#include "govern/fixed_strategy.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

namespace rubato::govern {
namespace {

using testing::HasSubstr;

TimePoint at_s(double seconds) {
  return TimePoint{} + Seconds(seconds);
}

struct Event {
  TimePoint at;
  Decision decision;
  std::int64_t iterations;
};

// A job in virtual time. A change is in force at once; the strategy is asked after each iteration and once a
// second.
struct Job {
  Setting wanted{.power_limit = 150_W};
  bool found_clock_stated = false;
  std::uint64_t seed = 1;
  std::optional<Seconds> iteration = 0.4_s;
  Megahertz clock = 1380_MHz;
  LimiterReasons limiter;
  std::function<bool(double)> may_set = [](double) { return true; };
  std::function<bool(double)> under_load = [](double) { return true; };

  std::vector<Event> run(double length_s) const {
    FixedStrategy strategy({wanted, found_clock_stated}, Random(seed));
    std::vector<Event> events;
    Observation o;
    o.highest_sm_clock = 1380_MHz;
    TimePoint next_second = at_s(0);
    TimePoint next_end = iteration ? at_s(0) + *iteration : TimePoint{INT64_MAX};
    while (true) {
      o.now = std::min(next_second, next_end);
      if (o.now > at_s(length_s)) return events;
      if (o.now == next_end) {
        ++o.iterations;
        o.last_iteration = o.now;
        next_end = o.now + *iteration;
      }
      if (o.now == next_second) {
        o.state = SlowReading{.at = o.now, .sm_clock = clock, .limiter = limiter};
        next_second = o.now + 1_s;
      }
      const double now_s = o.now.since_epoch().value();
      o.may_set = may_set(now_s);
      o.under_load = under_load(now_s);
      const Decision d = strategy.next(o);
      EXPECT_TRUE(!d.ask_again || *d.ask_again > o.now);
      events.push_back({o.now, d, o.iterations});
      if (d.action == Action::use_found) o.in_force = {};
      if (d.action == Action::use_setting) o.in_force = d.setting;
    }
  }
};

struct Block {
  BlockRole role;
  TimePoint begin;
  TimePoint end;
  std::int64_t iterations;
  [[nodiscard]] double length_s() const { return (end - begin).value(); }
};

// What conduct makes of the decisions: a block begins where the role changes.
std::vector<Block> blocks_of(const std::vector<Event>& events) {
  std::vector<Block> blocks;
  std::int64_t first = 0;
  for (const Event& e : events) {
    if (!blocks.empty()) {
      blocks.back().end = e.at;
      blocks.back().iterations = e.iterations - first;
    }
    if (blocks.empty() || blocks.back().role != e.decision.role) {
      blocks.push_back({e.decision.role, e.at, e.at, 0});
      first = e.iterations;
    }
  }
  return blocks;
}

std::vector<Block> only(BlockRole role, const std::vector<Block>& blocks) {
  std::vector<Block> some;
  std::copy_if(blocks.begin(), blocks.end(), std::back_inserter(some),
               [&](const Block& b) { return b.role == role; });
  return some;
}

int sets(const std::vector<Event>& events) {
  return static_cast<int>(std::count_if(events.begin(), events.end(),
                                        [](const Event& e) { return e.decision.action != Action::wait; }));
}

TEST(FixedStrategy, WarmsUpMeasuresABaselineLetsTheQueueDrainAndHolds) {
  const auto events = Job{}.run(60);
  const auto blocks = blocks_of(events);
  ASSERT_EQ(blocks.size(), 4U);
  EXPECT_EQ(blocks[0].role, BlockRole::warmup);
  EXPECT_EQ(blocks[1].role, BlockRole::baseline);
  EXPECT_EQ(blocks[2].role, BlockRole::warmup);
  EXPECT_EQ(blocks[3].role, BlockRole::hold);
  EXPECT_GE(blocks[0].iterations, 8);
  EXPECT_GE(blocks[1].length_s(), 25);  // 250 updates of 0.1 s
  EXPECT_GE(blocks[1].iterations, 16);
  EXPECT_GE(blocks[2].iterations, 2);
  EXPECT_LE(blocks[2].iterations, 3);
  EXPECT_EQ(sets(events), 1);
  EXPECT_LT(blocks[3].begin, at_s(31));
}

TEST(FixedStrategy, AShortRunGetsNoControlBlock) {
  EXPECT_TRUE(only(BlockRole::control, blocks_of(Job{}.run(500))).empty());
}

TEST(FixedStrategy, ALongRunGetsControlBlocksOfFiftyUpdatesAndFourIterations) {
  const auto blocks = blocks_of(Job{}.run(20000));
  const auto controls = only(BlockRole::control, blocks);
  EXPECT_GE(controls.size(), 5U);
  for (const Block& b : controls) {
    EXPECT_GE(b.length_s(), 5);
    EXPECT_GE(b.iterations, 4);
  }
}

TEST(FixedStrategy, ControlBlocksBeginAtOtherMomentsUnderAnotherSeed) {
  Job job;
  const auto first = only(BlockRole::control, blocks_of(job.run(20000)));
  const auto again = only(BlockRole::control, blocks_of(job.run(20000)));
  job.seed = 2;
  const auto other = only(BlockRole::control, blocks_of(job.run(20000)));
  ASSERT_EQ(first.size(), again.size());
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i].begin, again[i].begin);
  EXPECT_NE(first[0].begin, other[0].begin);
}

RC_GTEST_PROP(FixedStrategyProperty, TimeBackAtTheFoundSettingNeverPassesOnePercent, ()) {
  Job job;
  job.seed = *rc::gen::arbitrary<std::uint64_t>();
  job.iteration = Seconds(0.01 * *rc::gen::inRange(2, 500));
  std::optional<TimePoint> away;
  double spent = 0;
  bool held = false;
  for (const Event& e : job.run(5000)) {
    if (e.decision.action == Action::use_found) away = e.at;
    if (e.decision.action == Action::use_setting) {
      if (away) spent += (e.at - *away).value();
      away.reset();
      held = true;
    }
    const double now = e.at.since_epoch().value();
    const double so_far = spent + (away ? (e.at - *away).value() : 0);
    // Decisions come once a second at the latest, so that much may be added.
    if (held) RC_ASSERT(so_far <= 0.01 * now + 1.0);
  }
  RC_ASSERT(held);
}

TEST(FixedStrategy, WithoutIterationsItGoesByTime) {
  Job job;
  job.iteration.reset();
  const auto events = job.run(60);
  const auto blocks = blocks_of(events);
  ASSERT_EQ(only(BlockRole::baseline, blocks).size(), 1U);
  EXPECT_EQ(only(BlockRole::baseline, blocks)[0].begin, at_s(30));
  EXPECT_EQ(only(BlockRole::hold, blocks).size(), 1U);
  EXPECT_LE(only(BlockRole::hold, blocks)[0].begin, at_s(60));
}

TEST(FixedStrategy, NothingIsSetBeforeTheJobUsesTheGpu) {
  Job job;
  job.under_load = [](double t) { return t >= 100; };
  EXPECT_EQ(sets(job.run(100)), 0);
  EXPECT_EQ(sets(job.run(160)), 1);
}

TEST(FixedStrategy, ABaselineInterruptedByALullBeginsAgain) {
  Job job;
  job.under_load = [](double t) { return t < 6 || t > 20; };
  const auto blocks = blocks_of(job.run(60));
  const auto baselines = only(BlockRole::baseline, blocks);
  ASSERT_EQ(baselines.size(), 2U);
  EXPECT_GE(baselines[1].begin, at_s(20));
  EXPECT_GE(baselines[1].length_s(), 5);
}

TEST(FixedStrategy, NothingIsSetWhileItMayNot) {
  Job job;
  job.may_set = [](double) { return false; };
  const auto events = job.run(2000);
  EXPECT_EQ(sets(events), 0);
  EXPECT_EQ(events.back().decision.role, BlockRole::baseline);
  EXPECT_THAT(events.back().decision.why, HasSubstr("may not set"));
  job.may_set = [](double t) { return t > 100; };
  EXPECT_EQ(sets(job.run(200)), 1);
}

TEST(FixedStrategy, TimesThatNeverSettleDoNotDelayTheSettingForEver) {
  FixedStrategy strategy({.wanted = {.power_limit = 150_W}}, Random(1));
  Observation o;
  o.may_set = true;
  o.under_load = true;
  std::optional<TimePoint> set_at;
  double length = 0.1;
  for (double t = 0; t < 1000 && !set_at; t += length) {
    length = length > 10 ? 0.1 : length * 1.3;
    o.now = at_s(t);
    ++o.iterations;
    o.last_iteration = o.now;
    if (strategy.next(o).action == Action::use_setting) set_at = o.now;
  }
  ASSERT_TRUE(set_at);
  EXPECT_LE(*set_at, at_s(310));
}

TEST(FixedStrategy, ASuspectedClockLockRefusesTheClockAndKeepsThePowerLimit) {
  Job job;
  job.wanted.sm_clock = ClockRange{900_MHz, 900_MHz};
  job.clock = 1005_MHz;
  const auto events = job.run(60);
  const auto set = std::find_if(events.begin(), events.end(),
                                [](const Event& e) { return e.decision.action == Action::use_setting; });
  ASSERT_NE(set, events.end());
  EXPECT_EQ(set->decision.setting.power_limit, 150_W);
  EXPECT_FALSE(set->decision.setting.sm_clock);
  EXPECT_THAT(set->decision.why, HasSubstr("--found-sm-clock MIN:MAX"));
}

TEST(FixedStrategy, AStatedLockOrAnInnocentClockLetsTheClockBeSet) {
  for (const bool stated : {true, false}) {
    Job job;
    job.wanted = {.sm_clock = ClockRange{900_MHz, 900_MHz}};
    job.found_clock_stated = stated;
    job.clock = stated ? 1005_MHz : 1380_MHz;
    const auto events = job.run(60);
    EXPECT_EQ(sets(events), 1) << stated;
    EXPECT_EQ(events.back().decision.role, BlockRole::hold) << stated;
  }
}

TEST(FixedStrategy, WhenNothingButTheRefusedClockWasWantedItOnlyMeasures) {
  Job job;
  job.wanted = {.sm_clock = ClockRange{900_MHz, 900_MHz}};
  job.clock = 1005_MHz;
  const auto events = job.run(60);
  EXPECT_EQ(sets(events), 0);
  EXPECT_EQ(events.back().decision.role, BlockRole::baseline);
  EXPECT_THAT(events.back().decision.why, HasSubstr("--found-sm-clock"));
}

TEST(FixedStrategy, AChangeThatDoesNotTakeIsAskedForAgainButNotAllTheTime) {
  FixedStrategy strategy({.wanted = {.power_limit = 150_W}}, Random(1));
  Observation o;
  o.may_set = true;
  o.under_load = true;
  int asked = 0;
  for (int second = 0; second <= 100; ++second) {
    o.now = at_s(second);
    if (strategy.next(o).action == Action::use_setting) ++asked;
  }
  EXPECT_GE(asked, 10);
  EXPECT_LE(asked, 15);
}

}  // namespace
}  // namespace rubato::govern
