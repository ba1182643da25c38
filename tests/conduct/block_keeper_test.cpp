#include "conduct/block_keeper.h"

#include <gtest/gtest.h>

#include <vector>

namespace rubato::conduct {
namespace {

constexpr TimePoint at(double seconds) {
  return TimePoint{} + Seconds(seconds);
}
const Setting kFound{};
const Setting kCapped{.power_limit = 150_W};

/// A sensor of 20 ms: blocks of a second or more.
struct Kept {
  std::vector<FinishedBlock> blocks;
  BlockKeeper keeper{at(0), 20_ms, [this](const FinishedBlock& block) { blocks.push_back(block); }};

  /// Back to back, each `length` long; numbered from `index`.
  void iterations(double begin, double length, int count, std::int64_t index = 0) {
    for (int i = 0; i < count; ++i) {
      keeper.iteration({index + i, at(begin + i * length), at(begin + (i + 1) * length)});
      keeper.tick(at(begin + (i + 1) * length));
    }
  }
  [[nodiscard]] double covered() const {
    double sum = 0;
    for (const auto& block : blocks) sum += (block.end - block.begin).value();
    return sum;
  }
};

TEST(BlockKeeper, ABlockBeginsAtTheFirstWholeIterationAndEndsAtAnEdge) {
  Kept kept;
  kept.keeper.enter(BlockRole::baseline, kFound, at(0.5));
  kept.iterations(0.0, 1.0, 5);
  ASSERT_EQ(kept.blocks.size(), 1U);
  EXPECT_EQ(kept.blocks[0].role, BlockRole::baseline);
  EXPECT_EQ(kept.blocks[0].begin, at(1));
  EXPECT_EQ(kept.blocks[0].end, at(5));
  EXPECT_EQ(kept.blocks[0].iterations, 4);
}

TEST(BlockKeeper, WhatRemainsOfAnIterationAtTheEndCountsForNothing) {
  Kept kept;
  kept.keeper.enter(BlockRole::hold, kCapped, at(0));
  kept.iterations(0.0, 1.0, 2);
  kept.keeper.finish(at(2.7));
  ASSERT_EQ(kept.blocks.size(), 1U);
  EXPECT_EQ(kept.blocks[0].end, at(2));
  EXPECT_EQ(kept.blocks[0].iterations, 2);
}

TEST(BlockKeeper, ALongStretchBecomesManyBlocksThatLeaveNothingOut) {
  Kept kept;
  kept.keeper.enter(BlockRole::hold, kCapped, at(0));
  kept.iterations(0.0, 0.5, 61);
  kept.keeper.finish(at(30.7));
  EXPECT_GE(kept.blocks.size(), 10U);
  EXPECT_DOUBLE_EQ(kept.covered(), 30.5);
  std::int64_t iterations = 0;
  for (const auto& block : kept.blocks) {
    EXPECT_DOUBLE_EQ((block.end - block.begin).value(), 0.5 * static_cast<double>(block.iterations));
    EXPECT_EQ(block.setting, kCapped);
    iterations += block.iterations;
  }
  EXPECT_EQ(iterations, 61);
}

TEST(BlockKeeper, BlocksGrowWithTheRun) {
  Kept kept;
  kept.keeper.enter(BlockRole::hold, kCapped, at(0));
  kept.iterations(0.0, 1.0, 2000);
  ASSERT_FALSE(kept.blocks.empty());
  EXPECT_LT(kept.blocks.size(), 400U);
  EXPECT_GE((kept.blocks.back().end - kept.blocks.back().begin).value(), 15.0);
}

TEST(BlockKeeper, APauseOfTheProgramBelongsToNoBlock) {
  Kept kept;
  kept.keeper.enter(BlockRole::hold, kCapped, at(0));
  kept.iterations(0.0, 1.0, 3);
  kept.keeper.interruption(at(6));
  kept.iterations(6.0, 1.0, 4, 3);
  ASSERT_EQ(kept.blocks.size(), 2U);
  EXPECT_EQ(kept.blocks[0].end, at(3));
  EXPECT_EQ(kept.blocks[1].begin, at(6));
  EXPECT_EQ(kept.blocks[1].end, at(10));
}

TEST(BlockKeeper, LostIterationsSplitABlock) {
  Kept kept;
  kept.keeper.enter(BlockRole::hold, kCapped, at(0));
  kept.iterations(0.0, 1.0, 2);
  kept.iterations(4.0, 1.0, 4, 4);  // numbers 2 and 3 were lost
  ASSERT_EQ(kept.blocks.size(), 2U);
  EXPECT_EQ(kept.blocks[0].end, at(2));
  EXPECT_EQ(kept.blocks[0].iterations, 2);
  EXPECT_EQ(kept.blocks[1].begin, at(4));
  EXPECT_EQ(kept.blocks[1].iterations, 4);
}

TEST(BlockKeeper, WithoutIterationsBlocksGoByTime) {
  Kept kept;
  kept.keeper.enter(BlockRole::hold, kCapped, at(0));
  for (int tenth = 1; tenth <= 35; ++tenth) kept.keeper.tick(at(tenth / 10.0));
  kept.keeper.finish(at(3.5));
  ASSERT_EQ(kept.blocks.size(), 4U);
  EXPECT_DOUBLE_EQ(kept.covered(), 3.5);
  for (const auto& block : kept.blocks) EXPECT_EQ(block.iterations, 0);
}

TEST(BlockKeeper, WhereIterationsStopAtABlocksEndTimeGoesOnCutting) {
  Kept kept;
  kept.keeper.enter(BlockRole::hold, kCapped, at(0));
  kept.iterations(0.0, 1.0, 4);
  ASSERT_EQ(kept.blocks.size(), 1U);
  for (int s = 5; s <= 60; ++s) kept.keeper.tick(at(s));
  EXPECT_GT(kept.blocks.size(), 10U);
  EXPECT_EQ(kept.blocks.back().iterations, 0);
}

TEST(BlockKeeper, IterationsLongerThanABlockAreWaitedFor) {
  Kept kept;
  kept.keeper.enter(BlockRole::baseline, kFound, at(0));
  double now = 0;
  for (int i = 0; i < 12; ++i) {
    for (; now < (i + 1) * 30.0; now += 0.5) kept.keeper.tick(at(now));
    kept.keeper.iteration({i, at(i * 30.0), at((i + 1) * 30.0)});
    if (i == 3) kept.keeper.enter(BlockRole::hold, kCapped, at(125));
  }
  std::int64_t held = 0;
  for (const auto& block : kept.blocks) {
    if (block.role != BlockRole::hold) continue;
    EXPECT_DOUBLE_EQ((block.end - block.begin).value(), 30.0 * static_cast<double>(block.iterations));
    held += block.iterations;
  }
  EXPECT_EQ(held, 4) << "iterations 5 to 8 fill a block, 9 to 11 are still open";
}

TEST(BlockKeeper, TheSameRoleAndSettingAgainChangesNothing) {
  Kept kept;
  kept.keeper.enter(BlockRole::hold, kCapped, at(0));
  kept.iterations(0.0, 1.0, 2);
  kept.keeper.enter(BlockRole::hold, kCapped, at(2.5));
  EXPECT_TRUE(kept.blocks.empty());
  EXPECT_EQ(kept.keeper.begin(), at(0));
  kept.iterations(2.0, 1.0, 2, 2);
  ASSERT_EQ(kept.blocks.size(), 1U);
  EXPECT_EQ(kept.blocks[0].iterations, 4);
}

TEST(BlockKeeper, ASpoiledBlockIsNotTold) {
  Kept kept;
  kept.keeper.enter(BlockRole::hold, kCapped, at(0));
  kept.iterations(0.0, 1.0, 3);
  kept.keeper.spoil(at(3.2));
  kept.iterations(3.0, 1.0, 5, 3);
  ASSERT_EQ(kept.blocks.size(), 1U);
  EXPECT_EQ(kept.blocks[0].begin, at(4));
  EXPECT_EQ(kept.blocks[0].end, at(8));
}

TEST(BlockKeeper, AnotherRoleOrSettingEndsTheBlockAtItsLastEdge) {
  Kept kept;
  kept.keeper.enter(BlockRole::baseline, kFound, at(0));
  kept.iterations(0.0, 1.0, 2);
  kept.keeper.enter(BlockRole::hold, kFound, at(2.5));
  kept.keeper.enter(BlockRole::hold, kCapped, at(3.0));
  ASSERT_EQ(kept.blocks.size(), 2U);
  EXPECT_EQ(kept.blocks[0].end, at(2));
  EXPECT_EQ(kept.blocks[1].role, BlockRole::hold);
  EXPECT_EQ(kept.blocks[1].setting, kFound);
}

}  // namespace
}  // namespace rubato::conduct
