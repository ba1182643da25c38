#include "govern/reference/depo.h"

#include <gmock/gmock.h>

#include <cmath>

#include "govern/reference/made_curves.h"

namespace rubato::govern {
namespace {

using testing::ElementsAre;

Gears depo_gears(const plan::KnobSpace& space) {
  return Gears(depo_space(space, 0, 5), 0);
}

// A job that draws 220 W where it may, and takes the square root of what it lacks longer where it may not.
Ratio draws_220_watts(const predict::KnobPoint& at) {
  const double power = std::min(at.power_limit->value(), 220.0);
  const double time = std::sqrt(220 / power);
  return {time, time * power / 220};
}

TEST(Depo, ABoardOf100To350WattsHasFiftyOneGears) {
  const Gears gears = depo_gears(limits(100, 350, 1));
  EXPECT_EQ(gears.count(), 51U);
  EXPECT_EQ(gears.value(28), 240);
}

TEST(Depo, TheFirstStepGoesMostOfTheWayToThePowerDrawn) {
  const Depo search({}, depo_gears(limits(100, 350, 1)), {});
  // 220 W is gear 24: 85 % of 26 gears are 22.
  EXPECT_EQ(search.first_gear(220_W), 28U);
  // 345 W is gear 49: a tenth of 51 gears is more than 85 % of one.
  EXPECT_EQ(search.first_gear(345_W), 45U);
}

TEST(Depo, WalksDownThenSectionsAsTheRulesSayOnPaper) {
  const auto space = limits(100, 350, 1);
  Depo search({}, depo_gears(space), {});
  const Walk out = walk(search, space, draws_220_watts);
  // Down: gears 28, 20, 12; 160 W breaks the bound. Section of 12..28: 18 and 22; 18 breaks it. Of 18..28: 22
  // is known, 24 is worse. Of 18..24: 20 is measured again. 18..22 is narrow enough.
  EXPECT_THAT(tried_watts(out), ElementsAre(240, 200, 160, 190, 210, 220, 200));
  EXPECT_EQ(out.end.at.power_limit, 200_W);
}

TEST(Depo, APointThatIsMeasuredAgainCountsAsSevenTenthsOldAndThreeTenthsNew) {
  const auto space = limits(100, 350, 1);
  Depo search({}, depo_gears(space), {});
  int at_200 = 0;
  const auto noisy = [&](double second) {
    at_200 = 0;
    return [&, second](const predict::KnobPoint& at) {
      Ratio out = draws_220_watts(at);
      if (at.power_limit == 200_W && ++at_200 == 2) out.time = second;
      return out;
    };
  };
  // 4.88 % at first; 5.3 % then leaves a mean of 5.01 %, 5.2 % one of 4.98 %.
  EXPECT_EQ(walk(search, space, noisy(1.053)).end.at.power_limit, 210_W);
  EXPECT_EQ(walk(search, space, noisy(1.052)).end.at.power_limit, 200_W);
}

TEST(Depo, OnClocksItTakesEveryGear) {
  const auto space = clocks(300, 1500, 15);
  Depo search({}, depo_gears(space), {});
  const Walk out = walk(search, space, [](const predict::KnobPoint& at) {
    const double f = at.sm_clock->value() / 1500;
    return Ratio{0.7 + 0.3 / f, 0.5 + 0.5 * f};
  });
  // A tenth of 81 gears below the top.
  EXPECT_EQ(tried_clocks(out).front(), 1500 - 8 * 15);
  EXPECT_GE(out.end.at.sm_clock->value(), 0.3 / 0.35 * 1500 - 1);
}

}  // namespace
}  // namespace rubato::govern
