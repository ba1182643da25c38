#include "conduct/expectation_keeper.h"

#include <gtest/gtest.h>

namespace rubato::conduct {
namespace {

constexpr TimePoint kBegin{1'000'000'000'000};
const Setting k150{.power_limit = 150_W};
const Setting k160{.power_limit = 160_W};

/// One point of a curve, known to two percent.
Expectation expecting(double energy, double width = 0.04, const Setting& setting = k150) {
  const ExpectedRatio ratio{energy, energy - width / 2, energy + width / 2};
  return {{{.setting = {}}, {.setting = setting, .time = {1.05, 1.04, 1.06}, .energy = ratio}}};
}

TEST(ExpectationKeeper, KeepsWhatChanged) {
  ExpectationKeeper keeper(kBegin);
  EXPECT_TRUE(keeper.keep(expecting(0.80), {}, kBegin));
  EXPECT_FALSE(keeper.keep(expecting(0.80), {}, kBegin + 1_s));
  EXPECT_FALSE(keeper.keep(expecting(0.804), {}, kBegin + 2_s)) << "a fifth of its half width";
  EXPECT_TRUE(keeper.keep(expecting(0.806), {}, kBegin + 3_s));
  EXPECT_TRUE(keeper.keep(expecting(0.806, 0.02), {}, kBegin + 4_s)) << "it is surer now";
}

TEST(ExpectationKeeper, SmallStepsAddUp) {
  ExpectationKeeper keeper(kBegin);
  int kept = 0;
  for (int i = 0; i < 20; ++i) kept += keeper.keep(expecting(0.8 + 0.002 * i), {}, kBegin) ? 1 : 0;
  EXPECT_EQ(kept, 1 + 19 / 3);
}

TEST(ExpectationKeeper, APointMoreOfTheLineIsNoNewsUnlessItWasChosenOrMeasured) {
  ExpectationKeeper keeper(kBegin);
  EXPECT_TRUE(keeper.keep(expecting(0.8), {}, kBegin));
  Expectation more = expecting(0.8);
  more.settings.push_back({.setting = k160});
  EXPECT_FALSE(keeper.keep(more, k150, kBegin + 1_s));
  EXPECT_TRUE(keeper.keep(more, k160, kBegin + 2_s));
  more.settings.back().measured = true;
  EXPECT_TRUE(keeper.keep(more, k160, kBegin + 3_s));
}

TEST(ExpectationKeeper, ALongRunKeepsFew) {
  ExpectationKeeper keeper(kBegin);
  int first_minute = 0;
  int day = 0;
  for (int s = 0; s < 86'400; ++s) {
    const bool kept = keeper.keep(expecting(0.5 + 0.4 * (s % 2)), {}, kBegin + Seconds(s));
    first_minute += kept && s < 60 ? 1 : 0;
    day += kept ? 1 : 0;
  }
  EXPECT_GE(first_minute, 24);
  EXPECT_LE(first_minute, 48);
  EXPECT_LE(day, 24 * 12) << "log2 of 1440 minutes is 10.5";
}

}  // namespace
}  // namespace rubato::conduct
