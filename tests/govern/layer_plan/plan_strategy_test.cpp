// The strategy in virtual time, beside a job whose price at each setting is given: what it decides, not what
// a plan could save.
#include "govern/layer_plan/plan_strategy.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "made_plan.h"

namespace rubato::govern {
namespace {

using testing::HasSubstr;

struct Price {
  Seconds time;
  Joules energy;
};

struct Event {
  TimePoint at;
  Decision decision;
  Setting in_force;
};

struct Job {
  Price found{0.5_s, 100_J};
  Price single{0.51_s, 90_J};
  Price plan{0.51_s, 80_J};
  double noise = 0.002;
  PlanOptions options{.plan = made_plan(), .rules = {}, .found_clock_stated = true, .never = {}};
  std::function<bool(double)> ready = [](double) { return true; };
  std::function<bool(double)> another = [](double) { return false; };
  std::function<std::optional<std::string>(double)> shift = [](double) { return std::nullopt; };

  std::vector<Event> run(double length_s) const {
    PlanStrategy strategy(options, Random(7));
    const Setting range = range_of(options.plan);
    Random noise_of(3);
    std::vector<Event> events;
    Observation o;
    o.under_load = true;
    o.may_set = true;
    o.sensor_period = 0.02_s;
    Tally tally{.work = 0, .at = {}, .energy = 0_J};
    Setting in_force;
    while (tally.at < at_s(length_s)) {
      const Price& price = in_force.empty() ? found : in_force == range ? plan : single;
      tally.work += 1;
      tally.at = tally.at + price.time * (1 + noise * noise_of.normal());
      *tally.energy += price.energy * (1 + noise * noise_of.normal());
      o.now = tally.at;
      o.iterations = static_cast<std::int64_t>(tally.work);
      o.last_iteration = tally.at;
      o.tally = tally;
      o.in_force = in_force;
      const double s = o.now.since_epoch().value();
      o.plan = PlanNow{ready(s) && !another(s), another(s) ? "another batch" : "no kernel records came yet",
                       another(s)};
      o.shift = shift(s);
      const Decision decision = strategy.next(o);
      if (decision.action == Action::use_found) in_force = {};
      if (decision.action == Action::use_setting || decision.action == Action::use_plan)
        in_force = decision.setting;
      events.push_back({o.now, decision, in_force});
    }
    return events;
  }
};

std::size_t times(const std::vector<Event>& events, Action action) {
  return static_cast<std::size_t>(std::count_if(events.begin(), events.end(),
                                                [&](const Event& e) { return e.decision.action == action; }));
}

/// Of the events after `from_s`, the share at this setting.
double share(const std::vector<Event>& events, const Setting& setting, double from_s) {
  double all = 0;
  double there = 0;
  for (const Event& e : events) {
    if (e.at < at_s(from_s)) continue;
    ++all;
    there += e.in_force == setting ? 1 : 0;
  }
  return there / all;
}

const Setting kRange = range_of(made_plan());
const Setting kSingle = setting_of(kMiddle, false);

TEST(PlanStrategy, ThePlansRangeIsWhatARecordShowsWhileItRuns) {
  EXPECT_EQ(describe(kSingle), "SM 1200 MHz");
  EXPECT_EQ(*kRange.sm_clock, (ClockRange{900_MHz, 1500_MHz}));
  EXPECT_FALSE(kRange.memory_clock);
}

TEST(PlanStrategy, MeasuresABaselineThenComparesInTurnsAndKeepsAPlanThatPays) {
  const auto events = Job{}.run(3000);
  EXPECT_GE(times(events, Action::use_plan), 6U);
  EXPECT_EQ(events.back().decision.role, BlockRole::hold);
  EXPECT_THAT(events.back().decision.why, HasSubstr("the plan pays"));
  EXPECT_GT(share(events, kRange, 300), 0.95) << "the rest are control blocks";
  EXPECT_GT(share(events, {}, 300), 0) << "control blocks go on";
  // Nothing was set before the baseline was over.
  const auto first =
      std::find_if(events.begin(), events.end(), [](const Event& e) { return !e.in_force.empty(); });
  EXPECT_GE(first->at, at_s(5));
}

TEST(PlanStrategy, APlanThatDoesNotPayGivesWayToTheSingleSettingForGood) {
  Job job;
  job.plan = {0.51_s, 91_J};
  const auto events = job.run(900);
  EXPECT_GT(times(events, Action::use_plan), 0U);
  EXPECT_EQ(share(events, kRange, 450), 0);
  EXPECT_GT(share(events, kSingle, 450), 0.95);
  EXPECT_THAT(events.back().decision.why, testing::AnyOf(HasSubstr("does not pay"), HasSubstr("control")));
}

TEST(PlanStrategy, APlanThatBreaksTheBoundIsLeftAfterAFewBlocks) {
  Job job;
  job.plan = {0.6_s, 60_J};
  const auto events = job.run(600);
  EXPECT_LE(times(events, Action::use_plan), 4U);
  EXPECT_EQ(share(events, kRange, 300), 0);
}

TEST(PlanStrategy, WhereTheSingleSettingDoesNotPayEitherTheFoundOneIsKept) {
  Job job;
  job.single = {0.51_s, 101_J};
  job.plan = {0.51_s, 104_J};
  const auto events = job.run(600);
  EXPECT_EQ(share(events, {}, 400), 1);
  EXPECT_THAT(events.back().decision.why, HasSubstr("the found setting is kept"));
}

TEST(PlanStrategy, WithoutDeviceTimeItHoldsTheSingleSettingAndSaysWhy) {
  Job job;
  job.ready = [](double) { return false; };
  const auto events = job.run(300);
  EXPECT_EQ(times(events, Action::use_plan), 0U);
  EXPECT_EQ(events.back().in_force, kSingle);
  EXPECT_THAT(events.back().decision.why, HasSubstr("no kernel records came yet"));
}

TEST(PlanStrategy, ASingleSettingThatBreaksTheBoundIsLeftThoughThePlanNeverRuns) {
  Job job;
  job.ready = [](double) { return false; };
  job.single = {0.55_s, 80_J};  // 10 % slower, and 5 % are allowed
  for (const bool several_gpus : {false, true}) {
    if (several_gpus) job.options.never = "this run has 2 GPUs";
    const auto events = job.run(300);
    EXPECT_GT(share(events, kSingle, 0), 0);
    EXPECT_EQ(share(events, {}, 60), 1) << "three blocks tell";
    EXPECT_THAT(events.back().decision.why,
                HasSubstr("slower than the found one here, more than the 5 % allowed"));
  }
}

TEST(PlanStrategy, ASingleSettingThatCostsMoreEnergyIsLeftToo) {
  Job job;
  job.ready = [](double) { return false; };
  job.single = {0.51_s, 103_J};
  EXPECT_EQ(share(job.run(300), {}, 60), 1);
  job.single = {0.51_s, 99_J};
  EXPECT_GT(share(job.run(300), kSingle, 60), 0.95);
}

TEST(PlanStrategy, APlanInsideTheBoundIsKeptThoughTheSingleSettingIsNot) {
  Job job;
  job.single = {0.53_s, 90_J};  // 6 %
  job.plan = {0.52_s, 80_J};    // 4 %
  const auto events = job.run(3000);
  EXPECT_GT(share(events, kRange, 300), 0.95);
  EXPECT_THAT(events.back().decision.why, HasSubstr("the plan pays"));
  // Where it cannot run for a while, neither is its single setting.
  job.ready = [](double s) { return s < 1000 || s > 2000; };
  const auto broken = job.run(3000);
  for (const Event& e : broken)
    if (const double s = e.at.since_epoch().value(); s > 1002 && s < 2000) {
      ASSERT_TRUE(e.in_force.empty()) << s;
    }
  EXPECT_EQ(broken.back().in_force, kRange);
}

TEST(PlanStrategy, NoiseAboutTheBoundDoesNotEndIt) {
  Job job;
  job.ready = [](double) { return false; };
  job.single = {0.523_s, 90_J};  // 4.6 %
  job.noise = 0.03;
  EXPECT_GT(share(job.run(3000), kSingle, 60), 0.95);
}

TEST(PlanStrategy, AnotherJobIsLeftAtTheFoundSettingForAsLongAsItIsOne) {
  Job job;
  job.another = [](double s) { return s < 100 || (s > 600 && s < 700); };
  const auto events = job.run(900);
  for (const Event& e : events) {
    const double s = e.at.since_epoch().value();
    if (s < 100 || (s > 602 && s < 700)) {
      EXPECT_TRUE(e.in_force.empty()) << s;
    }
  }
  EXPECT_GT(share(events, kRange, 710), 0.9);
  const auto there =
      std::find_if(events.begin(), events.end(), [](const Event& e) { return e.at > at_s(650); });
  EXPECT_THAT(there->decision.why, HasSubstr("the found setting is kept: another batch"));
}

TEST(PlanStrategy, LostRecordsEndSwitchingAtOnceAndTheyMayComeBack) {
  Job job;
  job.ready = [](double s) { return s < 400 || s > 500; };
  const auto events = job.run(700);
  for (const Event& e : events) {
    if (e.at > at_s(400.6) && e.at < at_s(500)) {
      EXPECT_NE(e.in_force, kRange);
    }
  }
  EXPECT_GT(share(events, kRange, 510), 0.9);
}

TEST(PlanStrategy, WhatMayNeverBeSwitchedIsHeldAndSaid) {
  Job job;
  job.options.never = "this run has 2 GPUs";
  const auto events = job.run(300);
  EXPECT_EQ(times(events, Action::use_plan), 0U);
  EXPECT_THAT(events.back().decision.why, HasSubstr("this run has 2 GPUs"));
}

TEST(PlanStrategy, AJobThatChangedIsComparedAgain) {
  Job job;
  job.shift = [](double s) {
    return s > 400 && s < 400.6 ? std::optional<std::string>("power rose") : std::nullopt;
  };
  const auto events = job.run(1500);
  const auto again = std::find_if(events.begin(), events.end(), [](const Event& e) {
    return e.at > at_s(400) && e.decision.role == BlockRole::trial && e.in_force == kSingle;
  });
  EXPECT_NE(again, events.end());
}

}  // namespace
}  // namespace rubato::govern
