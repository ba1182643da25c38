#include "base/monotone_curve.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace rubato {
namespace {

TEST(MonotoneCurve, GoesThroughItsPoints) {
  const std::vector<double> x{100, 125, 150, 250};
  const std::vector<double> y{9.0, 7.5, 7.0, 6.9};
  const MonotoneCurve curve(x, y);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(curve.at(x[i]), y[i]);
}

TEST(MonotoneCurve, IsTheLineWhereThePointsLieOnOne) {
  const MonotoneCurve curve(std::vector<double>{0, 1, 4}, std::vector<double>{10, 8, 2});
  EXPECT_DOUBLE_EQ(curve.at(0.5), 9.0);
  EXPECT_DOUBLE_EQ(curve.at(2.5), 5.0);
}

TEST(MonotoneCurve, FollowsAParabolaBetweenItsInnerPoints) {
  const MonotoneCurve curve(std::vector<double>{0, 1, 2, 3}, std::vector<double>{0, 1, 4, 9});
  EXPECT_DOUBLE_EQ(curve.at(1.5), 2.25);
}

TEST(MonotoneCurve, HoldsItsEndsBeyondThem) {
  const MonotoneCurve curve(std::vector<double>{1, 2}, std::vector<double>{5, 7});
  EXPECT_EQ(curve.at(0), 5);
  EXPECT_EQ(curve.at(3), 7);
}

TEST(MonotoneCurve, OfOnePointIsConstant) {
  EXPECT_EQ(MonotoneCurve(std::vector<double>{3}, std::vector<double>{4}).at(10), 4);
}

RC_GTEST_PROP(MonotoneCurveProperty, NeverOvershootsAndNeverTurnsBetweenNeighbours, ()) {
  const auto places = *rc::gen::nonEmpty(rc::gen::arbitrary<std::set<short>>());
  std::vector<double> x(places.begin(), places.end());
  const auto heights = *rc::gen::container<std::vector<short>>(x.size(), rc::gen::arbitrary<short>());
  const std::vector<double> y(heights.begin(), heights.end());
  const MonotoneCurve curve(x, y);
  for (std::size_t i = 0; i + 1 < x.size(); ++i) {
    double last = y[i];
    const double direction = y[i + 1] >= y[i] ? 1.0 : -1.0;
    const double rounding = 1e-9 * (1.0 + std::max(std::abs(y[i]), std::abs(y[i + 1])));
    for (int step = 1; step <= 8; ++step) {
      const double value = curve.at(x[i] + (x[i + 1] - x[i]) * step / 8.0);
      RC_ASSERT(direction * (value - last) >= -rounding);
      last = value;
    }
    RC_ASSERT(last == y[i + 1]);
  }
}

}  // namespace
}  // namespace rubato
