#include "experiment/monotone_fit.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace rubato::experiment {
namespace {

using Point = MonotoneFit::Point;

TEST(MonotoneFit, GoesThroughPointsThatRise) {
  const MonotoneFit fit({{1, 1}, {2, 4}, {3, 9}}, true);
  EXPECT_DOUBLE_EQ(fit(1), 1);
  EXPECT_DOUBLE_EQ(fit(2), 4);
  EXPECT_DOUBLE_EQ(fit(3), 9);
}

TEST(MonotoneFit, AStraightLineStaysOneAndGoesOn) {
  const MonotoneFit fit({{3, 1}, {1, 5}, {2, 3}}, false);
  EXPECT_DOUBLE_EQ(fit(1.25), 4.5);
  EXPECT_DOUBLE_EQ(fit(0), 7);
  EXPECT_DOUBLE_EQ(fit(4), -1);
}

TEST(MonotoneFit, WhatTurnsBackBecomesTheMean) {
  const MonotoneFit fit({{1, 0}, {2, 3}, {3, 1}, {4, 6}}, true);
  EXPECT_DOUBLE_EQ(fit(2), 2);
  EXPECT_DOUBLE_EQ(fit(2.5), 2);
  EXPECT_DOUBLE_EQ(fit(3), 2);
}

TEST(MonotoneFit, PointsOfOneXAreTheirMean) {
  const MonotoneFit fit({{1, 0}, {1, 2}, {2, 3}}, true);
  EXPECT_DOUBLE_EQ(fit(1), 1);
}

TEST(MonotoneFit, TwoPointsAreALine) {
  const MonotoneFit fit({{0, 0}, {2, 1}}, true);
  EXPECT_DOUBLE_EQ(fit(1), 0.5);
}

RC_GTEST_PROP(MonotoneFitProperty, NeverTurnsAndNeverOvershoots, ()) {
  const auto n = *rc::gen::inRange<std::size_t>(2, 9);
  std::vector<Point> points;
  for (std::size_t i = 0; i < n; ++i)
    points.push_back(
        {static_cast<double>(i) + 0.1 * *rc::gen::inRange(0, 9), 0.1 * *rc::gen::inRange(-50, 50)});
  const bool rising = *rc::gen::arbitrary<bool>();
  const MonotoneFit fit(points, rising);
  const auto [low, high] = std::minmax_element(points.begin(), points.end(),
                                               [](const Point& a, const Point& b) { return a.y < b.y; });
  double before = fit(points.front().x);
  for (double x = points.front().x; x <= points.back().x; x += 0.01) {
    const double y = fit(x);
    RC_ASSERT(y >= low->y - 1e-9);
    RC_ASSERT(y <= high->y + 1e-9);
    RC_ASSERT((rising ? y - before : before - y) >= -1e-9);
    before = y;
  }
}

}  // namespace
}  // namespace rubato::experiment
