#include "govern/reference/odpp.h"

#include <gmock/gmock.h>

#include "govern/reference/made_curves.h"

namespace rubato::govern {
namespace {

using testing::ElementsAre;

// Time rises by 0.98 % per 30 MHz below 1920.
Ratio straight(const predict::KnobPoint& at) {
  const double steps = (1920 - at.sm_clock->value()) / 30;
  return {1 + 0.0098 * steps, 1 - 0.01 * steps};
}

TEST(Odpp, SamplesThePublishedClocksInTheirOrder) {
  const auto space = clocks(210, 1920, 15);
  Odpp search({}, Gears(space, 0), {});
  EXPECT_THAT(tried_clocks(walk(search, space, straight)),
              ElementsAre(450, 945, 1425, 1920, 690, 1185, 1680));
}

TEST(Odpp, TakesTheBestClockOfTheLinesThroughWhatItMeasured) {
  const auto space = clocks(210, 1920, 15);
  Odpp search({}, Gears(space, 0), {});
  EXPECT_EQ(walk(search, space, straight).end.at.sm_clock, 1770_MHz);
}

TEST(Odpp, ThePointsBetweenCorrectTheLines) {
  const auto space = clocks(210, 1920, 15);
  Odpp search({}, Gears(space, 0), {});
  // All of the loss lies below 1680 MHz: with the four clocks alone 1725 would already cost 5 %.
  const Walk out = walk(search, space, [](const predict::KnobPoint& at) {
    const double f = at.sm_clock->value();
    return Ratio{f >= 1680 ? 1.0 : 1 + (1680 - f) * 0.128 / 255, f / 1920};
  });
  EXPECT_LE(out.end.at.sm_clock->value(), 1680);
  EXPECT_GE(out.end.at.sm_clock->value(), 1575);
}

TEST(Odpp, AsPublishedSecondsStandInForARatio) {
  const auto space = clocks(210, 1920, 15);
  const Aim published{.time_power = 2, .beside = {}, .bound = 0.045};
  Odpp search({.seconds_as_ratio = true}, Gears(space, 0), published);
  // Iterations of 0.3 s: whatever the clock, 0.3 - 1 is below the bound, so the least E x T^2 is taken.
  const Walk out = walk(search, space, [](const predict::KnobPoint& at) {
    const double f = at.sm_clock->value() / 1920;
    return Ratio{1.1 - 0.1 * f, f};
  });
  EXPECT_EQ(out.end.at.sm_clock, 450_MHz);
}

TEST(Odpp, APowerThatSpreadsStartsItOver) {
  Odpp search({}, Gears(clocks(210, 1920, 15), 0), {});
  EXPECT_FALSE(search.again({.work = 4, .time = 1_s, .energy = 200_J}));
  EXPECT_FALSE(search.again({.work = 4, .time = 1_s, .energy = 230_J}));
  EXPECT_TRUE(search.again({.work = 4, .time = 1_s, .energy = 235_J}));
}

}  // namespace
}  // namespace rubato::govern
