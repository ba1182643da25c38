#include "lab/oracle.h"

#include <gtest/gtest.h>

namespace rubato::lab {
namespace {

TEST(Oracle, TheHullDropsWhatAShareOfItsNeighboursBeats) {
  const auto hull = lower_hull({{1.0, 1.0}, {1.1, 0.95}, {1.2, 0.6}, {1.3, 0.7}});
  ASSERT_EQ(hull.size(), 2u);
  EXPECT_EQ(hull[1].energy, 0.6);
}

TEST(Oracle, AShareOfTwoUsesTheBoundUp) {
  const std::vector<Point> hull = {{1.0, 1.0}, {1.2, 0.6}};
  const Point share = best_share(hull, 1.05);
  EXPECT_NEAR(share.energy, 0.9, 1e-12);
  EXPECT_NEAR(share.time, 1.05, 1e-12);
}

TEST(Oracle, AFasterPointThatDrawsMoreIsNotWorthATrip) {
  const std::vector<Point> hull = lower_hull({{0.9, 1.2}, {1.0, 1.0}});
  EXPECT_EQ(best_share(hull, 1.05).energy, 1.0);
}

TEST(Oracle, TheBestFixedSettingIsTheCheapestInsideTheBound) {
  const std::vector<RunCost> runs = {{12, 60}, {10.4, 90}, {10, 100}};
  const Oracles found = oracles_of(runs, 2, 0.05);
  EXPECT_EQ(found.setting, 1u);
  EXPECT_NEAR(found.fixed.saving, 0.1, 1e-12);
  EXPECT_NEAR(found.fixed.slowdown, 0.04, 1e-12);
  EXPECT_GE(found.mixed.saving, found.fixed.saving);
  EXPECT_NEAR(found.mixed.slowdown, 0.05, 1e-9);
}

TEST(Oracle, WhereNothingSavesTheFoundSettingStays) {
  const std::vector<RunCost> runs = {{10.1, 101}, {10, 100}};
  const Oracles found = oracles_of(runs, 1, 0.05);
  EXPECT_EQ(found.setting, 1u);
  EXPECT_EQ(found.fixed.saving, 0);
  EXPECT_EQ(found.mixed.saving, 0);
}

}  // namespace
}  // namespace rubato::lab
