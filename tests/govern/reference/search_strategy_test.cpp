#include "govern/reference/search_strategy.h"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <memory>
#include <vector>

#include "govern/reference/made_curves.h"

namespace rubato::govern {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

/// Tries two settings and holds the second.
class TwoTries final : public Search {
 public:
  explicit TwoTries(Knob knob = Knob::power_limit) : knob_(knob) {}
  std::string_view name() const override { return "two-tries"; }
  TrialLength baseline() const override { return {.settle = {}, .time = 5_s, .work = 10}; }
  SearchStep next(std::span<const TrialResult> seen) override {
    seen_.assign(seen.begin(), seen.end());
    ++asked_;
    if (seen.size() == 1) return step(SearchStep::Kind::measure, 200);
    return step(seen.size() == 2 ? SearchStep::Kind::measure : SearchStep::Kind::hold, 150);
  }
  bool again(const Cost& held) override {
    held_.push_back(held);
    return held.energy->value() > 200;
  }

  std::vector<TrialResult> seen_;
  std::vector<Cost> held_;
  int asked_ = 0;

 private:
  SearchStep step(SearchStep::Kind kind, double value) const {
    predict::KnobPoint at;
    if (knob_ == Knob::power_limit) at.power_limit = Watts(value);
    if (knob_ == Knob::sm_clock) at.sm_clock = Megahertz(value);
    return {kind, at, false, {.settle = 1_s, .time = 5_s, .work = 10}, "a try"};
  }
  Knob knob_;
};

struct Block {
  BlockRole role;
  Setting setting;
  std::int64_t iterations = 0;
};

/// An iteration takes half a second at the found setting, more at lower limits; a change acts from the next
/// one on and what was queued before it still runs at the old speed.
struct Job {
  double sensor_period = 0.1;
  bool meters_energy = true;
  Megahertz clock = 1380_MHz;
  std::function<bool(int)> under_load = [](int) { return true; };
  std::function<bool(int)> may_set = [](int) { return true; };
  std::function<double(int)> watts = [](int) { return 200.0; };
  double compiling = 0;  // s that the first iteration takes more
  double saves = 0;      // the power falls with this power of the limit
  std::function<Setting(Setting)> taken = [](Setting asked) { return asked; };
  int loses_at = -1;  // iteration at which somebody puts the found setting back

  std::vector<Block> blocks;
  std::vector<std::string> whys;
  int sets = 0;
  Seconds length;

  void run(Strategy& strategy, int iterations) {
    Observation o;
    o.highest_sm_clock = 1380_MHz;
    o.sensor_period = Seconds(sensor_period);
    o.tally = Tally{.work = 0, .at = {}, .energy = std::nullopt};
    if (meters_energy) o.tally->energy = Joules(0);
    Joules energy(0);
    Setting queued;
    for (int i = 0; i < iterations; ++i) {
      o.under_load = under_load(i);
      o.may_set = may_set(i);
      if (i == loses_at) o.in_force = {};
      o.state = SlowReading{.at = o.now, .sm_clock = clock};
      const Decision d = strategy.next(o);
      if (whys.empty() || whys.back() != d.why) whys.push_back(d.why);
      const Setting effective = queued;
      queued = o.in_force;
      if (d.action != Action::wait) ++sets;
      if (d.action == Action::use_setting) o.in_force = taken(d.setting);
      if (d.action == Action::use_found) o.in_force = {};
      if (blocks.empty() || blocks.back().role != d.role || blocks.back().setting != o.in_force)
        blocks.push_back({d.role, o.in_force, 0});
      const double time = 0.5 * (effective.power_limit ? 250 / effective.power_limit->value() : 1.0);
      o.now = o.now + Seconds(i == 0 ? time + compiling : time);
      length = o.now - TimePoint{};
      energy += Joules(watts(i) * time * std::pow(0.5 / time, saves));
      if (!o.under_load) continue;
      ++blocks.back().iterations;
      ++o.iterations;
      o.last_iteration = o.now;
      o.tally->work += 1;
      o.tally->at = o.now;
      if (meters_energy) o.tally->energy = energy;
    }
  }
  std::vector<Setting> measured(BlockRole role) const {
    std::vector<Setting> out;
    for (const Block& b : blocks)
      if (b.role == role) out.push_back(b.setting);
    return out;
  }
};

const Setting k200{.power_limit = 200_W};
const Setting k150{.power_limit = 150_W};

struct Made {
  TwoTries* search;
  SearchStrategy strategy;
};

Made made(Knob knob = Knob::power_limit, bool found_clock_stated = false) {
  auto search = std::make_unique<TwoTries>(knob);
  TwoTries* const raw = search.get();
  return {raw, SearchStrategy("two-tries", std::move(search),
                              {.space = limits(100, 250, 1), .found_clock_stated = found_clock_stated})};
}

TEST(SearchStrategy, WarmsUpMeasuresTheBaselineAndEachTryAndHolds) {
  auto [search, strategy] = made();
  Job job;
  job.run(strategy, 200);
  EXPECT_EQ(job.blocks.front().role, BlockRole::warmup);
  EXPECT_THAT(job.measured(BlockRole::baseline), ElementsAre(Setting{}));
  EXPECT_THAT(job.measured(BlockRole::trial), ElementsAre(k200, k150));
  EXPECT_EQ(job.blocks.back().role, BlockRole::hold);
  EXPECT_EQ(job.blocks.back().setting, k150);
  EXPECT_EQ(job.sets, 2) << "the last try is the setting to hold: nothing is set again";
}

TEST(SearchStrategy, WhatWasQueuedBeforeAChangeDoesNotCount) {
  auto [search, strategy] = made();
  Job job;
  job.run(strategy, 200);
  ASSERT_EQ(search->seen_.size(), 3U);
  EXPECT_TRUE(search->seen_[0].found);
  EXPECT_EQ(search->seen_[0].at.power_limit, 250_W);
  EXPECT_DOUBLE_EQ(search->seen_[0].cost.time.value(), 0.5);
  EXPECT_DOUBLE_EQ(search->seen_[1].cost.time.value(), 0.625);
  EXPECT_NEAR(search->seen_[2].cost.time.value(), 0.5 * 250 / 150, 1e-9);
  EXPECT_DOUBLE_EQ(search->seen_[1].cost.energy->value(), 125);
  EXPECT_GE(search->seen_[1].cost.work, 10);
}

TEST(SearchStrategy, OnAReplayedJobTheBaselineBeginsAtOnce) {
  auto [search, strategy] = made();
  Job job;
  job.sensor_period = 0;
  job.run(strategy, 60);
  EXPECT_EQ(job.blocks.front().role, BlockRole::baseline);
  EXPECT_EQ(job.blocks.front().iterations, 10);
  EXPECT_EQ(job.blocks.back().role, BlockRole::hold);
}

TEST(SearchStrategy, AMeasurementNeedsFiftySensorUpdates) {
  auto [search, strategy] = made();
  Job job;
  job.sensor_period = 0.4;
  job.run(strategy, 300);
  ASSERT_EQ(search->seen_.size(), 3U);
  EXPECT_GE((search->seen_[0].cost.time * search->seen_[0].cost.work).value(), 20);
}

TEST(SearchStrategy, NothingIsSetWhileItMayNotAndItGoesOnWhenItMay) {
  auto [search, strategy] = made();
  Job job;
  job.may_set = [](int i) { return i >= 150; };
  job.run(strategy, 150);
  EXPECT_EQ(job.sets, 0);
  EXPECT_THAT(job.whys.back(), HasSubstr("may not set"));

  auto [other, again] = made();
  Job later;
  later.may_set = job.may_set;
  later.run(again, 300);
  EXPECT_EQ(later.blocks.back().setting, k150);
}

TEST(SearchStrategy, ATryThatWasLostIsMeasuredOnceMore) {
  auto [search, strategy] = made();
  Job job;
  job.sensor_period = 0;
  job.loses_at = 17;  // the baseline takes 10, the drain 2, then 10 at 200 W
  job.run(strategy, 100);
  EXPECT_THAT(job.measured(BlockRole::trial), ElementsAre(k200, k200, k150));
  EXPECT_DOUBLE_EQ(search->seen_[1].cost.time.value(), 0.625);
  EXPECT_EQ(job.blocks.back().setting, k150);
}

TEST(SearchStrategy, AHeldSettingThatWasLostIsSetAgain) {
  auto [search, strategy] = made();
  Job job;
  job.sensor_period = 0;
  job.loses_at = 80;
  job.run(strategy, 120);
  EXPECT_EQ(job.sets, 3);
  EXPECT_EQ(job.blocks.back().role, BlockRole::hold);
  EXPECT_EQ(job.blocks.back().setting, k150);
}

TEST(SearchStrategy, ALimitThatTheGpuClampsCountsAsTaken) {
  auto [search, strategy] = made();
  Job job;
  job.taken = [](Setting asked) {
    asked.power_limit = std::max(*asked.power_limit, 175_W);
    return asked;
  };
  job.run(strategy, 200);
  EXPECT_EQ(job.sets, 2);
  EXPECT_EQ(job.blocks.back().setting.power_limit, 175_W);
  EXPECT_EQ(job.blocks.back().role, BlockRole::hold);
}

TEST(SearchStrategy, AChangeThatNeverTakesEndsAtTheFoundSetting) {
  auto [search, strategy] = made();
  Job job;
  job.taken = [](const Setting&) { return Setting{}; };
  job.run(strategy, 300);
  EXPECT_EQ(job.sets, 6);
  EXPECT_EQ(job.blocks.back().role, BlockRole::baseline);
  EXPECT_THAT(job.whys.back(), HasSubstr("did not take 200 W"));
}

TEST(SearchStrategy, WithoutEnergyNothingIsTried) {
  auto [search, strategy] = made();
  Job job;
  job.meters_energy = false;
  job.run(strategy, 200);
  EXPECT_EQ(job.sets, 0);
  EXPECT_THAT(job.whys.back(), HasSubstr("energy"));
}

TEST(SearchStrategy, APauseOfTheJobDoesNotCountAsItsTime) {
  auto [search, strategy] = made();
  Job job;
  job.under_load = [](int i) { return i < 60 || i > 90; };
  job.run(strategy, 300);
  ASSERT_EQ(search->seen_.size(), 3U);
  EXPECT_DOUBLE_EQ(search->seen_[0].cost.time.value(), 0.5);
  EXPECT_NEAR(search->seen_[1].cost.time.value(), 0.625, 1e-9);
  EXPECT_NEAR(search->seen_[2].cost.time.value(), 0.5 * 250 / 150, 1e-9);
}

TEST(SearchStrategy, WhileHoldingTheSearchIsToldWhatItCostsAndMaySearchAgain) {
  auto [search, strategy] = made();
  Job job;
  job.sensor_period = 0;
  job.watts = [](int i) { return i < 150 ? 200.0 : 300.0; };
  job.run(strategy, 150);
  EXPECT_GE(search->held_.size(), 3U);
  EXPECT_EQ(search->asked_, 3);

  auto [other, again] = made();
  Job changed;
  changed.sensor_period = 0;
  changed.watts = job.watts;
  changed.run(again, 200);
  EXPECT_GE(other->asked_, 4);
  EXPECT_EQ(changed.measured(BlockRole::baseline).size(), 2U);
}

TEST(SearchStrategy, TheMixingVariantSpendsTheBudgetAfterTheSearch) {
  SearchStrategy strategy(
      "two-tries+mix", std::make_unique<TwoTries>(),
      {.space = limits(100, 250, 1), .goal = {.max_slowdown = 0.4}, .spends_budget = true});
  Job job;
  job.sensor_period = 0;
  job.saves = 2;
  job.run(strategy, 4000);
  // 200 W takes a quarter more time and 150 W two thirds: only both together spend 40 %.
  EXPECT_THAT(job.measured(BlockRole::trial), ElementsAre(k200, k150));
  EXPECT_THAT(job.measured(BlockRole::hold), AllOf(Contains(k200), Contains(k150)));
  EXPECT_THAT(job.measured(BlockRole::control), testing::Each(Setting{}));
  EXPECT_LE(job.length.value(), 1.4 * 2000);
  EXPECT_GE(job.length.value(), 1.36 * 2000);
}

TEST(SearchStrategy, WhatCompilingTookIsNotSpent) {
  SearchStrategy strategy(
      "two-tries+mix", std::make_unique<TwoTries>(),
      {.space = limits(100, 250, 1), .goal = {.max_slowdown = 0.3}, .spends_budget = true});
  Job job;
  job.compiling = 100;
  job.saves = 2;
  job.run(strategy, 600);
  // What 100 s lost is not earned back in 300 s at 30 %.
  EXPECT_THAT(job.measured(BlockRole::hold), Contains(k200));
}

TEST(SearchStrategy, ClocksThatSeemLockedAreLeftAlone) {
  auto [search, strategy] = made(Knob::sm_clock);
  Job job;
  job.clock = 1005_MHz;
  job.run(strategy, 200);
  EXPECT_EQ(job.sets, 0);
  EXPECT_THAT(job.whys.back(), HasSubstr("--found-sm-clock"));

  auto [other, told] = made(Knob::sm_clock, true);
  Job stated;
  stated.clock = 1005_MHz;
  stated.run(told, 200);
  EXPECT_EQ(stated.sets, 2);
}

}  // namespace
}  // namespace rubato::govern
