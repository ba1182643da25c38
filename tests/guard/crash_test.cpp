// Death at every numbered step, and every single driver call failing.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "guard/guard_world.h"

namespace rubato::guard {
namespace {

using fake::ask;
using fake::kAllKnobs;
using fake::kGpu;
using fake::World;

enum class Act { limit, sm, both, application, restore, silence, release, acquire };
struct Step {
  Act act;
  double watts;
  double mhz;
};

const std::vector<Step> kALife = {
    {Act::both, 150, 1005},      {Act::application, 0, 900}, {Act::limit, 120, 0}, {Act::restore, 0, 0},
    {Act::sm, 0, 900},           {Act::release, 0, 0},       {Act::acquire, 0, 0}, {Act::both, 250, 1380},
    {Act::application, 0, 1380}, {Act::silence, 0, 0}};

wire::Body request_of(const Step& step) {
  switch (step.act) {
    case Act::limit:
      return fake::limit_to(step.watts);
    case Act::sm:
      return fake::sm_at(step.mhz);
    case Act::both:
      return fake::both(step.watts, step.mhz);
    case Act::application:
      return fake::application_at(877, step.mhz);
    case Act::restore:
      return wire::Restore{kGpu};
    case Act::release:
      return wire::Release{};
    case Act::acquire:
      return kAllKnobs;
    case Act::silence:
      break;
  }
  return wire::Heartbeat{};
}

void act(World& world, Guard& guard, const Step& step) {
  if (step.act == Act::silence) {
    world.clock->advance(6_s);
    guard.step(world.clock->now());
  } else {
    (void)ask(guard, request_of(step), world.clock->now());
  }
}

/// Lives through the steps, and dies without a word at the end if not before.
void live(World& world, const std::vector<Step>& steps) {
  Guard guard(world.options());
  (void)ask(guard, kAllKnobs);
  for (const Step& step : steps) act(world, guard, step);
}

/// Who comes next: a new lease, or `rubato restore`.
void recover_by(World& world, bool by_lease) {
  world.revive();
  if (by_lease) {
    Guard next(world.options());
    const auto reply = ask(next, kAllKnobs);
    ASSERT_TRUE(std::holds_alternative<wire::Granted>(reply)) << std::get<wire::Refused>(reply).error.what;
  } else {
    ASSERT_TRUE(world.restore_left_behind().has_value());
  }
}

bool as_found(World& world) {
  const fake::State& gpu = world.gpu();
  return gpu.requested == 200 && !gpu.sm.on && !gpu.memory.on && !gpu.illegal &&
         gpu.application == fake::State{}.application;
}

TEST(Crash, AtEveryStepOfALifeEndsInTheFoundState) {
  int crashed = 0;
  for (int at = 0;; ++at) {
    bool died = false;
    for (const double share : {0.0, 0.6, 1.0}) {
      for (const bool by_lease : {false, true}) {
        World world;
        world.steps->crash_at = at;
        world.steps->torn_share = share;
        live(world, kALife);
        died = world.steps->dead;
        recover_by(world, by_lease);
        ASSERT_TRUE(as_found(world)) << "step " << at << ", torn at " << share << ", limit "
                                     << world.gpu().requested;
      }
    }
    if (!died) break;
    crashed = at;
  }
  EXPECT_GT(crashed, 60) << "a life has more numbered steps than that";
}

TEST(Crash, DuringRecoveryIsRecoveredFromAsWell) {
  for (int at = 0;; ++at) {
    World world;
    live(world, {kALife[0], kALife[1]});
    world.revive();
    world.steps->crash_at = at;
    world.steps->torn_share = 0.5;
    (void)world.restore_left_behind();
    const bool died = world.steps->dead;
    recover_by(world, at % 2 == 0);
    ASSERT_TRUE(as_found(world)) << "step " << at;
    if (!died) break;
  }
}

TEST(Crash, AnyLifeCutAnywhereEndsInTheFoundState) {
  const auto any_step =
      rc::gen::construct<Step>(rc::gen::element(Act::limit, Act::sm, Act::both, Act::application,
                                                Act::restore, Act::silence, Act::release, Act::acquire),
                               rc::gen::element(90.0, 100.0, 150.0, 200.0, 237.5, 250.0, 300.0),
                               rc::gen::element(135.0, 1005.0, 1380.0, 5000.0));
  EXPECT_TRUE(rc::check("a life cut anywhere", [&] {
    const auto steps = *rc::gen::container<std::vector<Step>>(any_step);
    World world;
    world.steps->crash_at = *rc::gen::inRange(0, 20 + 12 * static_cast<int>(steps.size()));
    world.steps->torn_share = *rc::gen::inRange(0, 11) / 10.0;
    live(world, steps);
    recover_by(world, *rc::gen::arbitrary<bool>());
    RC_ASSERT(as_found(world));
  }));
}

TEST(Crash, AnySingleDriverCallFailingEndsInTheFoundStateOrAnHonestFailure) {
  int calls = 0;
  for (const ErrorCode how : {ErrorCode::timeout, ErrorCode::no_permission, ErrorCode::device_lost}) {
    for (int at = 0;; ++at) {
      World world;
      world.steps->fail_driver_at = at;
      world.steps->failure = how;
      std::vector<RestorationReport> reports;
      {
        Guard guard(world.options());
        (void)ask(guard, kAllKnobs);
        for (const Step& step : kALife) act(world, guard, step);
        reports = guard.client_gone({});
      }
      const bool finished = world.steps->driver_calls <= at;
      if (!as_found(world)) {
        ASSERT_FALSE(reports.empty()) << "driver call " << at;
        EXPECT_EQ(reports[0].outcome, Restoration::failed) << "driver call " << at;
        EXPECT_TRUE(std::filesystem::exists(world.journal())) << "driver call " << at;
      }
      world.revive();
      ASSERT_TRUE(world.restore_left_behind().has_value());
      ASSERT_TRUE(as_found(world)) << "driver call " << at << " after the second restore";
      if (finished) break;
      calls = at;
    }
  }
  EXPECT_GT(calls, 20);
}

TEST(Crash, ADriverThatFailsForAMomentIsAskedASecondTime) {
  World world;
  Guard guard(world.options());
  (void)ask(guard, kAllKnobs);
  (void)ask(guard, fake::both(150, 1005));
  world.steps->fail_driver_at = world.steps->driver_calls;
  EXPECT_EQ(fake::only_report(ask(guard, wire::Restore{kGpu})).outcome, Restoration::restored);
  EXPECT_EQ(world.gpu().requested, 200);
  EXPECT_FALSE(world.gpu().sm.on);
}

TEST(Crash, ADriverThatFailsForGoodKeepsTheJournalUntilItWorksAgain) {
  World world;
  Guard guard(world.options());
  (void)ask(guard, kAllKnobs);
  (void)ask(guard, fake::both(150, 1005));
  world.gpu().refuses_limits = true;
  auto report = fake::only_report(ask(guard, wire::Restore{kGpu}));
  EXPECT_EQ(report.outcome, Restoration::failed);
  EXPECT_EQ(world.gpu().requested, 150);
  EXPECT_FALSE(world.gpu().sm.on) << "one knob's failure does not stop the other";
  EXPECT_TRUE(std::filesystem::exists(world.journal()));
  world.gpu().refuses_limits = false;
  report = fake::only_report(ask(guard, wire::Restore{kGpu}));
  EXPECT_EQ(report.outcome, Restoration::restored);
  EXPECT_EQ(world.gpu().requested, 200);
}

}  // namespace
}  // namespace rubato::guard
