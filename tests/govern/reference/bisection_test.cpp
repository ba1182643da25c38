#include "govern/reference/bisection.h"

#include <gmock/gmock.h>

#include "govern/reference/made_curves.h"

namespace rubato::govern {
namespace {

using testing::ElementsAre;

// Two percent slower and three percent less energy for each of eleven gears.
Ratio two_percent_a_gear(const predict::KnobPoint& at) {
  const double gears = (200 - at.power_limit->value()) / 10;
  return {1 + 0.02 * gears, 1 - 0.03 * gears};
}

TEST(Bisection, HalvesTheGearsBetweenWhatHoldsAndWhatBreaksTheBound) {
  const auto space = limits(100, 200, 10);
  Bisection search({}, Gears(space, 0), {});
  const Walk out = walk(search, space, two_percent_a_gear);
  // Of 11 gears the 5th from the top breaks the bound, the 2nd holds it, the 3rd breaks it.
  EXPECT_THAT(tried_watts(out), ElementsAre(150, 180, 170));
  EXPECT_EQ(out.end.at.power_limit, 180_W);
}

TEST(Bisection, StopsAfterFiveTries) {
  const auto space = limits(100, 250, 1);
  Bisection search({}, Gears(space, 0), {});
  const Walk out = walk(search, space, [](const predict::KnobPoint& at) {
    return Ratio{1 + 0.00101 * (250 - at.power_limit->value()), at.power_limit->value() / 250};
  });
  // 75 gears down break the bound less its margin, 37 hold it, 56 and 46 (4.65 %) break it, 41 hold it.
  EXPECT_THAT(tried_watts(out), ElementsAre(175, 213, 194, 204, 209));
  EXPECT_EQ(out.end.at.power_limit, 209_W);
}

TEST(Bisection, KeepsAMarginBelowTheBound) {
  const auto space = limits(100, 200, 10);
  Bisection search({.margin = 0.011}, Gears(space, 0), {});
  EXPECT_EQ(walk(search, space, two_percent_a_gear).end.at.power_limit, 190_W);
}

TEST(Bisection, WhereNothingHoldsTheFoundSettingStays) {
  const auto space = limits(100, 200, 10);
  Bisection search({}, Gears(space, 0), {});
  const Walk out = walk(search, space, [](const auto&) { return Ratio{1.5, 0.5}; });
  EXPECT_TRUE(out.end.found);
}

}  // namespace
}  // namespace rubato::govern
