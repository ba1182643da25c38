#include "conduct/counted_unit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace rubato::conduct {
namespace {

TimePoint at(double seconds) {
  return TimePoint{} + Seconds(seconds);
}

std::vector<Iteration> cycles(double from_s, double length_s, int count) {
  std::vector<Iteration> out;
  for (int i = 0; i < count; ++i)
    out.push_back({i, at(from_s + i * length_s), at(from_s + (i + 1) * length_s), ProgressSource::telemetry});
  return out;
}

void expect_lengths(const std::vector<Iteration>& iterations, double length_s, std::size_t count) {
  ASSERT_EQ(iterations.size(), count);
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_NEAR(iterations[i].duration().value(), length_s, 1e-6);
    if (i > 0) {
      EXPECT_NEAR((iterations[i].begin - iterations[i - 1].end).value(), 0, 1e-6);
    }
  }
}

class CountedUnitTest : public ::testing::Test {
 protected:
  void establish() { expect_lengths(unit_.counted(cycles(0, 0.5, 40), Seconds(0.5)), 0.5, 40); }
  CountedUnit unit_;
};

TEST_F(CountedUnitTest, ACycleTakenForOneIsParted) {
  const std::vector<Iteration> two = {{0, at(0), at(1.01), ProgressSource::telemetry}};
  expect_lengths(unit_.counted(two, Seconds(0.5)), 0.505, 2);
}

TEST_F(CountedUnitTest, AMultipleIsCountedInWhatWasCounted) {
  establish();
  expect_lengths(unit_.counted(cycles(20, 5, 3), Seconds(5)), 0.5, 30);
  expect_lengths(unit_.counted(cycles(35, 0.5, 6), Seconds(0.5)), 0.5, 6);
}

TEST_F(CountedUnitTest, PartsAreJoinedAcrossCalls) {
  establish();
  EXPECT_TRUE(unit_.counted(cycles(20, 0.125, 3), Seconds(0.125)).empty());
  expect_lengths(unit_.counted(cycles(20.375, 0.125, 5), Seconds(0.125)), 0.5, 2);
}

TEST_F(CountedUnitTest, PartsOnTwoSidesOfAHoleAreNotJoined) {
  establish();
  EXPECT_TRUE(unit_.counted(cycles(20, 0.125, 3), Seconds(0.125)).empty());
  EXPECT_TRUE(unit_.counted(cycles(21, 0.125, 3), Seconds(0.125)).empty());
  const auto whole = unit_.counted(cycles(21.375, 0.125, 1), Seconds(0.125));
  expect_lengths(whole, 0.5, 1);
  EXPECT_NEAR((whole[0].begin - at(21)).value(), 0, 1e-6);
}

TEST_F(CountedUnitTest, WhatDriftsIsFollowed) {
  establish();
  for (int i = 1; i <= 40; ++i)  // to 0.7 s
    expect_lengths(unit_.counted(cycles(20 * i, 0.5 + 0.005 * i, 4), Seconds(0.5 + 0.005 * i)),
                   0.5 + 0.005 * i, 4);
  expect_lengths(unit_.counted(cycles(1000, 1.4, 2), Seconds(1.4)), 0.7, 4);
}

TEST_F(CountedUnitTest, AnotherIterationIsCountedAsItIs) {
  establish();
  expect_lengths(unit_.counted(cycles(20, 0.8, 30), Seconds(0.8)), 0.8, 30);
  expect_lengths(unit_.counted(cycles(50, 1.6, 2), Seconds(1.6)), 0.8, 4);
}

TEST_F(CountedUnitTest, AtAnotherSettingAndAfterAFewOnlyNothingIsHeldOnTo) {
  establish();
  unit_.anew();
  expect_lengths(unit_.counted(cycles(20, 1, 3), Seconds(1)), 1, 3);
  expect_lengths(unit_.counted(cycles(30, 2, 3), Seconds(2)), 2, 3);
}

}  // namespace
}  // namespace rubato::conduct
