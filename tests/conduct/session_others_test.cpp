// Another hand on the GPU: settings and processes that are neither the job's nor rubato's.
#include <gmock/gmock.h>

#include <algorithm>

#include "conduct/session.h"
#include "conduct/session_rows.h"
#include "conduct/virtual_run.h"

namespace rubato::conduct {
namespace {

using device::sim::SimWorld;
using record::RunRecord;
using testing::HasSubstr;

TEST(Session, ALimitThatSomeoneElseSetsInMidRunStands) {
  VirtualRun virtual_run({});
  virtual_run.at(
      40_s, [](SimWorld& world, TimePoint now) { EXPECT_TRUE(world.set_external_limit(0, 180_W, now)); });
  const RunRecord run = virtual_run.run();
  EXPECT_EQ(virtual_run.truth().end.requested_limit, 180_W);
  EXPECT_EQ(device_end(run).restoration, Restoration::left_alone);
  const auto theirs = std::find_if(run.setting_changes.begin(), run.setting_changes.end(),
                                   [](const auto& change) { return change.who == "someone else"; });
  ASSERT_NE(theirs, run.setting_changes.end());
  EXPECT_LT(theirs->at - VirtualRun::kBegin, 42_s);
  EXPECT_EQ(theirs->requested.power_limit, 180_W);
  ASSERT_EQ(virtual_run.warnings().size(), 1U);
  EXPECT_THAT(virtual_run.warnings()[0].what, HasSubstr("180"));
  EXPECT_EQ(judged_between(run, 42_s, 1000_s), 0) << "their limit is neither the found one nor ours";
  EXPECT_EQ(holds_above_their_limit(run), 0);
}

TEST(Session, WhatSomeoneElseSetsWhileNothingIsOursIsRecordedAndMeasuredApart) {
  VirtualRunOptions options;
  options.wanted = {};
  VirtualRun virtual_run(options);
  virtual_run.at(
      20_s, [](SimWorld& world, TimePoint now) { EXPECT_TRUE(world.set_external_limit(0, 150_W, now)); });
  virtual_run.at(
      40_s, [](SimWorld& world, TimePoint now) { EXPECT_TRUE(world.set_external_limit(0, 200_W, now)); });
  const RunRecord run = virtual_run.run();
  ASSERT_EQ(run.setting_changes.size(), 2U);
  EXPECT_EQ(run.setting_changes[0].who, "someone else");
  EXPECT_EQ(run.setting_changes[0].requested.power_limit, 150_W);
  EXPECT_EQ(run.setting_changes[1].requested.power_limit, 200_W);
  EXPECT_EQ(virtual_run.warnings().size(), 1U) << "the first is told, the others are in the record";
  EXPECT_EQ(virtual_run.truth().end.writes, 0U);
  bool theirs = false;
  for (const record::Block& block : blocks_of(run, BlockRole::baseline)) {
    const Seconds begin = block.begin - VirtualRun::kBegin;
    const Seconds end = block.end - VirtualRun::kBegin;
    EXPECT_EQ(block.setting.power_limit.has_value(), begin > 19_s && end < 42_s) << begin.value();
    EXPECT_FALSE(begin < 20_s && end > 22_s) << "a block at two settings";
    theirs = theirs || block.setting.power_limit == 150_W;
  }
  EXPECT_TRUE(theirs);
}

TEST(Session, WhoMeantToSetStandsBackFromALimitThatSomeoneElseSetBefore) {
  for (const Seconds at : {1_s, 4_s, 7_s}) {
    VirtualRun virtual_run({});
    virtual_run.at(
        at, [](SimWorld& world, TimePoint now) { EXPECT_TRUE(world.set_external_limit(0, 130_W, now)); });
    const RunRecord run = virtual_run.run();
    EXPECT_EQ(times_set(run), 0) << "150 W would be above what they allow";
    EXPECT_EQ(virtual_run.truth().end.requested_limit, 130_W);
    ASSERT_EQ(virtual_run.warnings().size(), 1U);
    EXPECT_THAT(virtual_run.warnings()[0].what, HasSubstr("someone else set the power limit to 130"));
  }
}

TEST(Session, WheneverSomeoneElseSetsALimitNothingIsSetAfterwards) {
  for (double at = 6; at < 14; at += 0.25) {
    VirtualRun virtual_run({});
    virtual_run.at(Seconds(at), [](SimWorld& world, TimePoint now) {
      EXPECT_TRUE(world.set_external_limit(0, 130_W, now));
    });
    const RunRecord run = virtual_run.run();
    EXPECT_EQ(virtual_run.truth().end.requested_limit, 130_W) << at;
    std::ptrdiff_t theirs = 0;
    for (const record::SettingChange& change : run.setting_changes) {
      theirs += change.who == "someone else" ? 1 : 0;
      const bool ours = change.who == "rubato" && !change.asked.empty();
      EXPECT_FALSE(ours && change.at - VirtualRun::kBegin > Seconds(at)) << change.outcome;
    }
    EXPECT_EQ(theirs, 1) << at;
    for (const record::Block& block : run.blocks)
      EXPECT_FALSE(block.role != BlockRole::warmup && block.setting.empty() &&
                   block.begin - VirtualRun::kBegin > Seconds(at + 1.5))
          << at << ": measured at their limit, and called the found setting";
  }
}

TEST(Session, WhatSomeoneElseSetsOnOneGpuCutsTheStretchOfAll) {
  VirtualRunOptions options;
  options.profiles = {"v100", "v100"};
  options.train->beside = {1};
  options.wanted = {};
  VirtualRun virtual_run(options);
  virtual_run.at(
      40_s, [](SimWorld& world, TimePoint now) { EXPECT_TRUE(world.set_external_limit(1, 150_W, now)); });
  const RunRecord run = virtual_run.run();
  std::size_t after = 0;
  for (const record::Block& block : run.blocks) {
    const Seconds begin = block.begin - VirtualRun::kBegin;
    EXPECT_FALSE(begin < 40_s && block.end - VirtualRun::kBegin > 42_s) << "across the change";
    if (begin > 39_s && block.energy && block.iterations > 0) ++after;
  }
  EXPECT_GE(after, 2U) << "both GPUs have energy after it";
}

TEST(Session, WhenSomeoneElseSetsOneLimitAllElseGoesBack) {
  VirtualRunOptions options;
  options.profiles = {"v100", "v100"};
  options.train->beside = {1};
  options.wanted = {.power_limit = 150_W, .sm_clock = ClockRange{900_MHz, 900_MHz}};
  VirtualRun virtual_run(options);
  bool looked = false;
  virtual_run.at(40_s, [](SimWorld& world, TimePoint now) {
    ASSERT_TRUE(world.truth(0, now)->sm_lock);
    ASSERT_EQ(world.truth(1, now)->requested_limit, 150_W);
    EXPECT_TRUE(world.set_external_limit(0, 180_W, now));
  });
  virtual_run.at(50_s, [&looked](SimWorld& world, TimePoint now) {
    looked = true;
    EXPECT_EQ(world.truth(0, now)->requested_limit, 180_W);
    EXPECT_FALSE(world.truth(0, now)->sm_lock);
    EXPECT_EQ(world.truth(1, now)->requested_limit, 200_W);
    EXPECT_FALSE(world.truth(1, now)->sm_lock);
  });
  const RunRecord run = virtual_run.run();
  EXPECT_TRUE(looked);
  EXPECT_EQ(virtual_run.warnings().size(), 1U);
  EXPECT_EQ(device_end(run, 0).restoration, Restoration::left_alone);
  EXPECT_EQ(virtual_run.truth(0).end.requested_limit, 180_W);
  EXPECT_EQ(judged_between(run, 42_s, 1000_s), 0);
}

TEST(Session, AStrangerOnTheGpuIsNotSlowedDown) {
  VirtualRunOptions options;
  options.train->iterations = 400;
  VirtualRun virtual_run(options);
  device::sim::ContextId stranger;
  const device::sim::Segment segment{.compute_s = 0.1};
  virtual_run.at(40_s, [&](SimWorld& world, TimePoint now) {
    stranger = world.add_context(0, 999, 1 << 20, std::span(&segment, 1), now).value();
  });
  Watts beside_them;
  virtual_run.at(60_s,
                 [&](SimWorld& world, TimePoint now) { beside_them = world.truth(0, now)->requested_limit; });
  virtual_run.at(
      70_s, [&](SimWorld& world, TimePoint now) { EXPECT_TRUE(world.remove_context(0, stranger, now)); });
  Watts after_them;
  virtual_run.at(100_s,
                 [&](SimWorld& world, TimePoint now) { after_them = world.truth(0, now)->requested_limit; });
  const RunRecord run = virtual_run.run();
  EXPECT_EQ(beside_them, 200_W);
  EXPECT_EQ(after_them, 150_W);
  EXPECT_EQ(times_set(run), 2);
  EXPECT_EQ(judged_between(run, 50_s, 70_s), 0) << "beside a stranger nothing is like the baseline";
  EXPECT_EQ(holds_above_their_limit(run), 0);
  EXPECT_EQ(run.iterations.size(), 400U) << "it is measured all the while";
  EXPECT_EQ(virtual_run.truth().end.requested_limit, 200_W);
  EXPECT_EQ(device_end(run).restoration, Restoration::restored);
}

}  // namespace
}  // namespace rubato::conduct
