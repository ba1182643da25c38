#include "govern/sweep_strategy.h"

#include <gmock/gmock.h>

#include <cmath>
#include <vector>

#include "govern/whole_run_strategy.h"

namespace rubato::govern {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TimePoint at_s(double seconds) {
  return TimePoint{} + Seconds(seconds);
}

/// A job with an iteration every 0.4 s and a board that gets warm with a time constant of 20 s.
struct Job {
  bool iterates = true;
  Megahertz clock = 1380_MHz;
  double lost_at_s = -1;  // the guard puts back, once

  struct Held {
    Setting setting;
    BlockRole role = BlockRole::warmup;
    std::int64_t iterations = 0;
  };
  std::vector<Held> measured;  // stretches that count
  std::vector<std::string> whys;
  Setting in_force;

  void run(Strategy& strategy, double length_s) {
    Observation o;
    o.highest_sm_clock = 1380_MHz;
    o.may_set = true;
    o.under_load = true;
    Held now;
    for (double t = 0; t < length_s; t += 0.4) {
      o.now = at_s(t);
      if (iterates) {
        ++o.iterations;
        ++now.iterations;
        o.last_iteration = o.now;
      }
      if (lost_at_s >= 0 && t >= lost_at_s) {
        in_force = {};
        lost_at_s = -1;
      }
      o.in_force = in_force;
      o.state =
          SlowReading{.at = o.now, .sm_clock = clock, .temperature = Celsius(60 - 30 * std::exp(-t / 20))};
      const Decision d = strategy.next(o);
      if (whys.empty() || whys.back() != d.why) whys.push_back(d.why);
      if (d.action == Action::use_setting) in_force = d.setting;
      if (d.action == Action::use_found) in_force = {};
      if (d.role != now.role || in_force != now.setting) {
        if (now.role != BlockRole::warmup) measured.push_back(now);
        now = {in_force, d.role, 0};
      }
    }
  }
};

std::vector<Setting> settings_of(const Job& job) {
  std::vector<Setting> out;
  for (const auto& held : job.measured) out.push_back(held.setting);
  return out;
}

const Setting kLow{.power_limit = 120_W};
const Setting kHigh{.power_limit = 200_W};

TEST(SweepStrategyTest, HoldsEverySettingInOrderForTheIterationsAskedAndComesBack) {
  SweepStrategy strategy({{{}, kLow, kHigh, {}}, 60});
  Job job;
  job.run(strategy, 300);
  EXPECT_THAT(settings_of(job), ElementsAre(Setting{}, kLow, kHigh, Setting{}));
  EXPECT_EQ(job.measured[0].role, BlockRole::control);
  EXPECT_EQ(job.measured[1].role, BlockRole::hold);
  for (const auto& held : job.measured) EXPECT_GE(held.iterations, 60);
  EXPECT_TRUE(job.in_force.empty());
  EXPECT_EQ(job.whys.back(), "all settings are measured");
}

TEST(SweepStrategyTest, WaitsUntilTheTemperatureIsSteady) {
  SweepStrategy strategy({{kLow}, 10});
  Job job;
  job.run(strategy, 60);
  EXPECT_TRUE(job.measured.empty()) << "the board still gets warmer by more than a degree in 15 s";
}

TEST(SweepStrategyTest, WithoutIterationsItGivesUpAndSaysSo) {
  SweepStrategy strategy({{kLow}, 10});
  Job job;
  job.iterates = false;
  job.run(strategy, 100);
  EXPECT_TRUE(job.measured.empty());
  EXPECT_THAT(job.whys.back(), HasSubstr("no iteration was seen"));
}

TEST(SweepStrategyTest, ASettingThatWasLostIsMeasuredOnceMore) {
  SweepStrategy strategy({{kLow, kHigh}, 60});
  Job job;
  job.lost_at_s = 90;
  job.run(strategy, 300);
  ASSERT_EQ(job.measured.size(), 3U);
  EXPECT_LT(job.measured[0].iterations, 60);
  EXPECT_EQ(job.measured[1].setting, kLow);
  EXPECT_GE(job.measured[1].iterations, 60);
}

TEST(SweepStrategyTest, ClocksThatSeemLockedAreLeftAlone) {
  const Setting clock{.sm_clock = ClockRange{1005_MHz, 1005_MHz}};
  Job locked;
  locked.clock = 900_MHz;
  SweepStrategy careful({{clock}, 10});
  locked.run(careful, 300);
  EXPECT_TRUE(locked.measured.empty());

  Job stated;
  stated.clock = 900_MHz;
  SweepStrategy told({{clock}, 10, true});
  stated.run(told, 300);
  EXPECT_EQ(stated.measured.size(), 1U);
}

TEST(WholeRunStrategyTest, SetsAsSoonAsItMayAndHolds) {
  WholeRunStrategy strategy(kLow);
  Observation o;
  EXPECT_EQ(strategy.next(o).action, Action::wait);
  EXPECT_EQ(strategy.next(o).role, BlockRole::warmup);
  o.may_set = true;
  EXPECT_EQ(strategy.next(o).action, Action::use_setting);
  o.in_force = kLow;
  EXPECT_EQ(strategy.next(o).action, Action::wait);
  EXPECT_EQ(strategy.next(o).role, BlockRole::hold);
}

}  // namespace
}  // namespace rubato::govern
