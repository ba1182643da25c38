#include "govern/rubato/next_try.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "made_stretch.h"

namespace rubato::govern {
namespace {

struct Point {
  double time = 1;
  double energy = 1;
};

/// One curve over limits 20 W apart that end at 300 W, the found one.
plan::CurveBelief belief_of(const std::vector<Point>& curve) {
  const auto n = static_cast<Eigen::Index>(curve.size());
  predict::Draws draws{Eigen::MatrixXd(n, 1), Eigen::MatrixXd(n, 1)};
  std::vector<predict::KnobPoint> at;
  for (Eigen::Index i = 0; i < n; ++i) {
    const Point& p = curve[static_cast<std::size_t>(i)];
    draws.log_time(i, 0) = std::log(p.time);
    draws.log_power(i, 0) = std::log(p.energy / p.time);
    at.push_back({.power_limit = Watts(300 - 20 * static_cast<double>(n - 1 - i))});
  }
  return {std::move(at), curve.size() - 1, std::move(draws)};
}

const Goal kGoal{.objective = Objective::energy, .max_slowdown = 0.05, .host_watts = {}};

TEST(NextTry, TheSettingThatSavesMostInsideTheBoundIsFirst) {
  const auto belief = belief_of({{1.09, 0.60}, {1.02, 0.80}, {1.01, 0.90}, {1, 1}});
  const auto next = next_try(belief, History(3), kGoal, 200_W);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->setting, 1);
  EXPECT_NEAR(next->saving, 0.2, 0.001);
  EXPECT_GT(next->holds, 0.99);
}

TEST(NextTry, WhatWasMeasuredIsNotTriedAgain) {
  const auto belief = belief_of({{1.02, 0.80}, {1.01, 0.90}, {1, 1}});
  History history(2);
  history.add(0, stretch(0, 5, 1.02, 0.8 / 1.02), 0);
  const auto next = next_try(belief, history, kGoal, 200_W);
  EXPECT_FALSE(next);  // the other gains nothing over it
}

TEST(NextTry, NothingWorthATryIsNoTry) {
  EXPECT_FALSE(next_try(belief_of({{1.02, 1.10}, {1.01, 1.05}, {1, 1}}), History(2), kGoal, 200_W));
}

TEST(NextTry, WhatWouldBreakTheBoundBadlyIsNotTriedHoweverMuchItSaves) {
  EXPECT_FALSE(next_try(belief_of({{1.40, 0.30}, {1, 1}}), History(1), kGoal, 200_W));
}

TEST(NextTry, AHostThatWaitsLeavesLessToGain) {
  const auto belief = belief_of({{1.04, 0.80}, {1, 1}});
  Goal goal = kGoal;
  const auto alone = next_try(belief, History(1), goal, 200_W);
  goal.host_watts = 200_W;
  const auto with_host = next_try(belief, History(1), goal, 200_W);
  ASSERT_TRUE(alone);
  ASSERT_TRUE(with_host);
  EXPECT_NEAR(alone->saving, 0.20, 0.001);
  EXPECT_NEAR(with_host->saving, 0.08, 0.001);
}

}  // namespace
}  // namespace rubato::govern
