#include "device/replay/world.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "device/replay/gpu_view.h"
#include "device_replay/made_table.h"

namespace rubato::device::replay {
namespace {

using testing::HasSubstr;

ContextId load(ReplayWorld& world, int iterations, TimePoint now = {}) {
  const auto context = world.add_context(0, 77, now);
  EXPECT_TRUE(context) << context.error().what;
  for (int i = 0; i < iterations; ++i) EXPECT_TRUE(world.submit(0, *context, 1.0, now));
  return *context;
}

TEST(ReplayWorld, AnIterationTakesTheTimeAndEnergyOfItsRow) {
  const auto world = world_of(kLimits);
  const ContextId context = load(*world, 3);
  EXPECT_EQ(*world->completion(0, context, 0, {}), at(2_s));
  EXPECT_EQ(*world->completion(0, context, 2, {}), at(6_s));
  EXPECT_EQ(*world->completed(0, context, at(5_s)), 2U);
  EXPECT_DOUBLE_EQ(world->read(0, at(5_s))->energy.value(), 1000);
  EXPECT_EQ(*world->completed(0, context, at(6_s)), 3U);
  EXPECT_EQ(*world->completion(0, context, 1, at(6_s)), at(4_s));
}

TEST(ReplayWorld, WhileNothingRunsPowerIsUnknownAndTheCounterStands) {
  const auto world = world_of(kLimits);
  EXPECT_EQ(world->read(0, at(10_s))->power, std::nullopt);
  EXPECT_EQ(world->read(0, at(10_s))->energy, 0_J);
  load(*world, 1, at(10_s));
  EXPECT_EQ(world->read(0, at(11_s))->power, 200_W);
  const Reading after = *world->read(0, at(60_s));
  EXPECT_EQ(after.power, std::nullopt);
  EXPECT_DOUBLE_EQ(after.energy.value(), 400);
}

TEST(ReplayWorld, AChangedLimitActsAtOnceForTheRestOfTheIteration) {
  const auto world = world_of(kLimits);
  const ContextId context = load(*world, 2);
  ASSERT_TRUE(world->set_power_limit(0, 100_W, at(1_s)));
  // Half of it is done; the other half takes half of 4 s.
  EXPECT_EQ(*world->completion(0, context, 0, at(1_s)), at(3_s));
  EXPECT_DOUBLE_EQ(world->read(0, at(3_s))->energy.value(), 200 + 180);
  EXPECT_EQ(*world->completed(0, context, at(7_s)), 2U);
  EXPECT_DOUBLE_EQ(world->read(0, at(7_s))->energy.value(), 200 + 180 + 360);
}

TEST(ReplayWorld, OrFromTheNextIterationOnWhereToldSo) {
  const auto world = world_of(kLimits, {.from_next_iteration = true});
  const ContextId context = load(*world, 2);
  ASSERT_TRUE(world->set_power_limit(0, 100_W, at(1_s)));
  EXPECT_EQ(world->read(0, at(1_s))->limits->requested, 100_W);
  EXPECT_EQ(world->read(0, at(1_s))->power, 200_W);
  EXPECT_EQ(*world->completion(0, context, 0, at(1_s)), at(2_s));
  EXPECT_EQ(*world->completion(0, context, 1, at(1_s)), at(6_s));
  EXPECT_EQ(world->read(0, at(3_s))->power, 90_W);
}

TEST(ReplayWorld, KindIsReplayedOnARowAndInterpolatedBetween) {
  const std::shared_ptr<ReplayWorld> world = world_of(kLimits);
  const auto gpu = make_gpu(world, 0);
  const auto control = make_control(world, 0);
  EXPECT_EQ(gpu->kind(), Kind::replayed);
  ASSERT_TRUE(control->set_power_limit(151_W));
  EXPECT_EQ(gpu->kind(), Kind::interpolated);
  ASSERT_TRUE(control->set_power_limit(150_W));
  EXPECT_EQ(gpu->kind(), Kind::replayed);
}

TEST(ReplayWorld, TellsWhatATableCannotTell) {
  const std::shared_ptr<ReplayWorld> world = world_of(kClocks);
  const auto gpu = make_gpu(world, 0);
  EXPECT_EQ(gpu->power_limits().error().code, ErrorCode::not_supported);
  EXPECT_FALSE(gpu->capabilities().set_power_limit.available);
  EXPECT_THAT(gpu->capabilities().read_utilisation.why_not, HasSubstr("does not tell"));
  EXPECT_EQ(gpu->read_slow()->temperature, std::nullopt);
  EXPECT_EQ(gpu->sensor().calibration_band, 0.0);
  EXPECT_EQ(make_control(world, 0)->reset_application_clocks().error().code, ErrorCode::not_supported);
  const std::shared_ptr<ReplayWorld> limits = world_of(kLimits);
  EXPECT_EQ(make_gpu(limits, 0)->supported_clocks().error().code, ErrorCode::not_supported);
}

TEST(ReplayWorld, OneTrainingAtATime) {
  const auto world = world_of(kLimits);
  const ContextId first = load(*world, 1);
  const auto second = world->add_context(0, 78, {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::busy);
  EXPECT_THAT(second.error().what, HasSubstr("process 77"));
  EXPECT_EQ(world->read_processes(0, {})->at(0).pid, 77);
  ASSERT_TRUE(world->remove_context(0, first, {}));
  EXPECT_FALSE(world->remove_context(0, first, {}));
  EXPECT_FALSE(world->submit(0, first, 1.0, {}));
  EXPECT_TRUE(world->add_context(0, 78, {}));
}

TEST(ReplayWorld, TheQueueHasAnEnd) {
  const auto world = world_of(kLimits);
  const ContextId context = load(*world, 8);
  EXPECT_EQ(world->submit(0, context, 1.0, {}).error().code, ErrorCode::busy);
  EXPECT_EQ(world->submit(0, context, -1.0, {}).error().code, ErrorCode::invalid_argument);
}

TEST(ReplayWorld, AFoundLimitStandsFromTheStart) {
  EXPECT_EQ(world_of(kLimits, {.found_power_limit = 150_W})->read(0, {})->limits->requested, 150_W);
  const ReplaySource source = source_of(kLimits);
  EXPECT_FALSE(ReplayWorld::create_private(std::span(&source, 1), {.found_power_limit = 300_W}));
}

TEST(ReplayWorld, WithoutRightsNothingChanges) {
  const auto world = world_of(kLimits, {.rights = Rights::none});
  const Status set = world->set_power_limit(0, 150_W, {});
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().code, ErrorCode::no_permission);
  EXPECT_EQ(world->read(0, {})->limits->requested, 200_W);
}

TEST(ReplayWorld, SeveralTablesAreSeveralGpus) {
  const std::vector<ReplaySource> sources{source_of(kLimits), source_of(kClocks)};
  const auto world = ReplayWorld::create_private(sources);
  ASSERT_TRUE(world);
  EXPECT_EQ((*world)->gpu_count(), 2U);
  EXPECT_NE((*world)->identity(0).id, (*world)->identity(1).id);
  EXPECT_EQ((*world)->find((*world)->identity(1).id.uuid), 1U);
  EXPECT_TRUE((*world)->lock_sm_clock(1, {1102_MHz, 1102_MHz}, {}));
  EXPECT_EQ((*world)->read(2, {}).error().code, ErrorCode::not_found);
}

// However often somebody looks, and whatever is set meanwhile: what was foretold happens then, and the energy
// is the sum of power times time.
RC_GTEST_PROP(ReplayWorldProperty, EnergyIsPowerTimesTimeAndForesightIsRight, ()) {
  const auto world = world_of(kLimits);
  const ContextId context = load(*world, 8);
  const Board& board = world->board(0);
  Knobs knobs = board.default_knobs();
  TimePoint now;
  double joules = 0;
  for (int step = 0; step < 20; ++step) {
    const TimePoint end = *world->completion(0, context, 7, now);
    const TimePoint next = now + Seconds(*rc::gen::inRange(0, 2'000'000) * 1e-6);
    const TimePoint until = std::min(next, end);
    joules += board.at(knobs).power.value() * (until - now).value();
    if (next >= end) {
      RC_ASSERT(*world->completed(0, context, TimePoint{end.ns - 1}) == 7U);
      RC_ASSERT(*world->completed(0, context, end) == 8U);
      RC_ASSERT(std::abs(world->read(0, end)->energy.value() - joules) < 1e-4);
      return;
    }
    now = next;
    const Watts limit(*rc::gen::inRange(100, 201));
    RC_ASSERT(world->set_power_limit(0, limit, now).has_value());
    RC_ASSERT(board.set_limit(knobs, limit).has_value());
    RC_ASSERT(std::abs(world->read(0, now)->energy.value() - joules) < 1e-4);
  }
}

}  // namespace
}  // namespace rubato::device::replay
