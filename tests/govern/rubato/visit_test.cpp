#include "govern/rubato/visit.h"

#include <gmock/gmock.h>

namespace rubato::govern {
namespace {

using testing::HasSubstr;

const Setting kLower{.power_limit = 200_W, .sm_clock = {}, .memory_clock = {}, .application_clocks = {}};

/// Iterations of 0.2 s; time passes with them.
struct Moment {
  Observation o{.now = TimePoint{} + 100_s,
                .run_begin = {},
                .in_force = {},
                .under_load = true,
                .last_iteration = {},
                .state = {},
                .highest_sm_clock = {},
                .tally = Tally{.work = 0, .at = TimePoint{} + 100_s, .energy = 0_J},
                .features = {},
                .shift = {},
                .may_set = true};

  const Observation& later(int iterations) {
    o.iterations += iterations;
    o.now = o.now + 0.2_s * static_cast<double>(iterations);
    o.tally->work += iterations;
    o.tally->at = o.now;
    o.tally->energy = *o.tally->energy + 40_J * static_cast<double>(iterations);
    return o;
  }
};

TEST(Visit, GoesWaitsForWhatDrainsAndMeasures) {
  Moment m;
  Visit visit;
  visit.begin(kLower, BlockRole::trial, "why", m.o);
  const auto go = visit.step(m.o);
  ASSERT_TRUE(go);
  EXPECT_EQ(go->action, Action::use_setting);
  EXPECT_EQ(go->setting, kLower);
  EXPECT_EQ(go->role, BlockRole::warmup);

  m.o.in_force = kLower;
  EXPECT_EQ(visit.step(m.o)->action, Action::wait);
  EXPECT_EQ(visit.step(m.later(1))->role, BlockRole::warmup);
  EXPECT_FALSE(visit.measuring());
  EXPECT_FALSE(visit.step(m.later(3)));  // 0.8 s and four iterations
  EXPECT_TRUE(visit.measuring());
  EXPECT_EQ(visit.meter().work(), 0);
  EXPECT_FALSE(visit.step(m.later(5)));
  EXPECT_EQ(visit.meter().work(), 5);
  EXPECT_EQ(visit.wait().role, BlockRole::trial);
}

TEST(Visit, AnEmptySettingIsTheFoundOne) {
  Moment m;
  m.o.in_force = kLower;
  Visit visit;
  visit.begin({}, BlockRole::control, "why", m.o);
  EXPECT_EQ(visit.step(m.o)->action, Action::use_found);
}

TEST(Visit, AsksAgainOnlyAfterFiveSeconds) {
  Moment m;
  Visit visit;
  visit.begin(kLower, BlockRole::trial, "why", m.o);
  EXPECT_EQ(visit.step(m.o)->action, Action::use_setting);
  const auto waits = visit.step(m.later(5));
  EXPECT_EQ(waits->action, Action::wait);
  EXPECT_EQ(waits->ask_again, TimePoint{} + 105_s);
  EXPECT_EQ(visit.step(m.later(20))->action, Action::use_setting);
}

TEST(Visit, WhileNothingMayBeSetItSaysSo) {
  Moment m;
  m.o.may_set = false;
  Visit visit;
  visit.begin(kLower, BlockRole::trial, "trying", m.o);
  const auto waits = visit.step(m.o);
  EXPECT_EQ(waits->action, Action::wait);
  EXPECT_THAT(waits->why, HasSubstr("may not set"));
}

TEST(Visit, ASettingTakenAwayIsAskedForAgainAndMeasuredAnew) {
  Moment m;
  Visit visit;
  visit.begin(kLower, BlockRole::hold, "why", m.o);
  m.o.in_force = kLower;
  (void)visit.step(m.o);
  (void)visit.step(m.later(10));
  (void)visit.step(m.later(10));
  ASSERT_TRUE(visit.measuring());
  m.o.in_force = {};
  EXPECT_EQ(visit.step(m.later(1))->action, Action::use_setting);
  EXPECT_FALSE(visit.measuring());
  m.o.in_force = kLower;
  EXPECT_EQ(visit.step(m.o)->role, BlockRole::warmup);  // drains once more
  EXPECT_FALSE(visit.step(m.later(10)));
  EXPECT_EQ(visit.meter().work(), 0);
}

TEST(Visit, AStayThatGoesOnMeasuresAtOnce) {
  Moment m;
  Visit visit;
  visit.begin({}, BlockRole::baseline, "first", m.o);
  (void)visit.step(m.o);
  (void)visit.step(m.later(10));
  ASSERT_TRUE(visit.measuring());
  visit.begin({}, BlockRole::hold, "second", m.o);
  EXPECT_FALSE(visit.step(m.later(5)));
  EXPECT_EQ(visit.meter().work(), 5);
}

TEST(Visit, WithoutIterationsItStopsDrainingAfterTenSeconds) {
  Moment m;
  Visit visit;
  visit.begin({}, BlockRole::baseline, "why", m.o);
  EXPECT_TRUE(visit.step(m.o));
  m.o.now = m.o.now + 9_s;
  EXPECT_TRUE(visit.step(m.o));
  m.o.now = m.o.now + 2_s;
  EXPECT_FALSE(visit.step(m.o));
}

// On many nodes the others' work is known a second late: what they did at the setting before is not measured.
TEST(Visit, MeasuresNothingThatWasToldOfBeforeTheDrainWasOver) {
  Moment m;
  Visit visit;
  visit.begin(kLower, BlockRole::trial, "why", m.o);
  static_cast<void>(visit.step(m.o));
  m.later(3);
  m.o.in_force = kLower;
  const Tally late = *m.o.tally;
  static_cast<void>(visit.step(m.o));
  EXPECT_NEAR(visit.latency().value(), 0.6, 1e-9);
  m.later(3);
  m.o.last_iteration = m.o.now;
  const Tally drained = *m.o.tally;
  m.o.tally = late;
  EXPECT_TRUE(visit.step(m.o));
  EXPECT_FALSE(visit.measuring());
  m.o.tally = drained;
  EXPECT_FALSE(visit.step(m.o));
  EXPECT_TRUE(visit.measuring());
}

}  // namespace
}  // namespace rubato::govern
