#include "progress/period/trail.h"

#include <gtest/gtest.h>

namespace rubato::progress {
namespace {

TEST(Trail, WhatTwoLooksSawIsTakenOnce) {
  Trail trail;
  EXPECT_EQ(trail.add({{0, 2}, {2, 4}, {4, 6}}, 2), 3U);
  // The second look places the marks a little off.
  EXPECT_EQ(trail.add({{2.1, 4.1}, {4.1, 6.1}, {6.1, 8.1}}, 2), 1U);
  const auto all = trail.take();
  ASSERT_EQ(all.size(), 4U);
  EXPECT_DOUBLE_EQ(all.back().begin_s, 6);
  EXPECT_TRUE(trail.take().empty());
}

TEST(Trail, AStallStaysAGap) {
  Trail trail;
  EXPECT_EQ(trail.add({{0, 2}, {7, 9}}, 2), 2U);
  EXPECT_DOUBLE_EQ(trail.take().back().begin_s, 7);
}

TEST(Trail, MarksReachBackToTheLastGap) {
  Trail trail;
  (void)trail.add({{0, 2}, {7, 9}, {9, 11}}, 2);
  EXPECT_EQ(trail.marks(6), (std::vector<double>{7, 9, 11}));
  EXPECT_EQ(trail.marks(1), (std::vector<double>{11}));
}

TEST(Trail, CyclesInsideAStretchOrOfAnotherIterationAreLeftOut) {
  Trail trail;
  (void)trail.add({{0, 2}, {2, 7}, {7, 9.1}, {9.1, 11}}, 2);
  const auto outside = trail.outside({{8, 20}}, 2);
  ASSERT_EQ(outside.size(), 1U);
  EXPECT_DOUBLE_EQ(outside[0].end_s, 2);
}

TEST(Trail, IterationsLongGoneStillCount) {
  Trail trail;
  (void)trail.add({{0, 2}, {2, 4}, {4, 6}}, 2);
  trail.forget_before(3);
  EXPECT_EQ(trail.recent().size(), 1U);
  EXPECT_EQ(trail.older().count(), 2U);
  trail.start_again();
  EXPECT_EQ(trail.older().count(), 0U);
}

TEST(Trail, TimeGivenOutAsOtherIterationsIsNotGivenOutAgain) {
  Trail trail;
  (void)trail.add({{0, 2}, {2, 4}, {4, 6}}, 2);
  trail.start_again();
  EXPECT_EQ(trail.add({{1, 6.5}, {6.5, 12}}, 5.5), 2U);
  EXPECT_EQ(trail.recent().size(), 2U);
  const auto all = trail.take();
  ASSERT_EQ(all.size(), 4U);
  EXPECT_DOUBLE_EQ(all.back().begin_s, 6.5);
}

TEST(Trail, AnotherClockIsTheSameIterationADoubleIsNot) {
  EXPECT_TRUE(same_iteration(1.4));
  EXPECT_TRUE(same_iteration(0.7));
  EXPECT_FALSE(same_iteration(2));
  EXPECT_FALSE(same_iteration(0.5));
}

}  // namespace
}  // namespace rubato::progress
