#include "govern/reference/budget_spender.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "govern/reference/made_curves.h"

namespace rubato::govern {
namespace {

/// A job of 0.3 s and 200 W at 250 W, and what it costs at the two limits a search tried.
const std::map<double, Ratio> kTruth = {{250, {1, 1}}, {200, {1.02, 0.90}}, {150, {1.10, 0.75}}};

/// A run in virtual time that the spender steers.
class Spent {
 public:
  explicit Spent(Goal goal = {}) : spender(goal, limits(100, 250, 10), Random(1)) {
    low = spender.name({.power_limit = 150_W}, false);
    high = spender.name({.power_limit = 200_W}, false);
  }

  /// Spends so much work at a setting, and measures it.
  void stay(std::size_t setting, double work) {
    const Ratio ratio = kTruth.at(spender.at(setting).power_limit->value());
    const double unit = 0.3 * ratio.time * drift;
    const TimePoint begin = now;
    now = now + Seconds(unit * work);
    time += unit * work;
    energy += 60 * ratio.energy * drift * work;
    at_found += 0.3 * drift * work;
    energy_at_found += 60 * drift * work;
    spender.ran(setting, Seconds(unit * work), work);
    spender.measured(setting, {.work = work,
                               .begin = begin,
                               .end = now,
                               .log_time = std::log(unit),
                               .log_power = std::log(200 * ratio.energy / ratio.time),
                               .time_scatter = 1e-6,
                               .power_scatter = 1e-6});
  }
  void search() {
    stay(0, 100);
    stay(low, 40);
    stay(high, 40);
  }
  void turns(double until_s) {
    while (now.since_epoch().value() < until_s) {
      const auto turn = spender.next(high, now, TimePoint{});
      const double unit = 0.3 * kTruth.at(spender.at(turn.setting).power_limit->value()).time;
      const double work = std::max(turn.work, turn.time / Seconds(unit));
      if (turn.role == BlockRole::control) control_s += work * unit;
      stay(turn.setting, work);
      worst = std::max(worst, slowdown());
    }
  }
  [[nodiscard]] double slowdown() const { return time / at_found - 1; }
  [[nodiscard]] double saving() const { return 1 - energy / energy_at_found; }

  BudgetSpender spender;
  std::size_t low = 0;
  std::size_t high = 0;
  TimePoint now;
  double drift = 1;
  double time = 0;
  double energy = 0;
  double at_found = 0;
  double energy_at_found = 0;
  double worst = 0;
  double control_s = 0;
};

TEST(BudgetSpender, SharesTheTimeSoThatTheRunEndsJustInsideTheBound) {
  Spent run;
  run.search();
  run.turns(7200);
  EXPECT_LE(run.worst, 0.05);
  EXPECT_GE(run.slowdown(), 0.045);
  // Five eighths at 10 % and three eighths at 25 % would be 15.6 %.
  EXPECT_GE(run.saving(), 0.140);
  EXPECT_LE(run.saving(), 0.157);
}

TEST(BudgetSpender, ControlBlocksTakeOnePercentAtMost) {
  Spent run;
  run.search();
  run.turns(7200);
  EXPECT_GT(run.control_s, 20);
  EXPECT_LE(run.control_s, 72);
}

TEST(BudgetSpender, WhatASearchOverspentIsEarnedBackAtTheFoundSetting) {
  Spent run;
  run.stay(0, 100);
  run.stay(run.low, 400);
  run.stay(run.high, 40);
  ASSERT_GT(run.slowdown(), 0.07);
  EXPECT_EQ(run.spender.next(run.high, run.now, TimePoint{}).setting, 0U);
  run.turns(3600);
  EXPECT_LE(run.slowdown(), 0.05);
}

TEST(BudgetSpender, AJobThatGetsSlowerByItselfHasNotSpentItsBudget) {
  Spent run;
  run.search();
  run.turns(600);
  run.drift = 1.03;
  run.turns(7200);
  EXPECT_LE(run.slowdown(), 0.05);
  EXPECT_GE(run.slowdown(), 0.04) << "a baseline of the first minute would have it at the found setting";
}

TEST(BudgetSpender, EdpIsNotShared) {
  Spent run({.objective = Objective::edp});
  run.search();
  const auto turn = run.spender.next(run.high, run.now, TimePoint{});
  EXPECT_EQ(turn.setting, run.high);
}

TEST(BudgetSpender, WhatWasLostBeforeARestartStaysLost) {
  Spent run;
  run.stay(0, 100);
  run.stay(run.low, 1000);
  static_cast<void>(run.spender.next(run.high, run.now, TimePoint{}));
  run.spender.restart();
  run.low = run.spender.name({.power_limit = 150_W}, false);
  run.high = run.spender.name({.power_limit = 200_W}, false);
  run.search();
  EXPECT_EQ(run.spender.next(run.high, run.now, TimePoint{}).setting, 0U);
}

}  // namespace
}  // namespace rubato::govern
