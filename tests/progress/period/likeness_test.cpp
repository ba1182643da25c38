#include "progress/period/likeness.h"

#include <gtest/gtest.h>

#include "progress/period/wave.h"

namespace rubato::progress {
namespace {

Series level_of(double seconds, double period_s, const std::function<double(double)>& watts) {
  const Samples samples = samples_of(readings(seconds, 0.05, 1, watts));
  return high_pass(resample(samples, 0, seconds, 0.05, varying_columns(samples, 0, seconds)), 2 * period_s);
}

TEST(Likeness, StretchesAreAlikeOnePeriodLaterAndNotHalfAPeriodLater) {
  const Series level = level_of(60, 2, [](double t) { return three_levels(t, 2); });
  EXPECT_GT(summary_of(likeness(level, 2, 2, 0.1)).median, 0.95);
  EXPECT_LT(summary_of(likeness(level, 2, 1, 0.1)).median, 0.3);
}

TEST(Likeness, AStallSpoilsOnlyTheStretchesItIsIn) {
  // The job stands still from 30 s to 37 s.
  const Series level = level_of(60, 2, [](double t) {
    if (t > 30 && t < 37) return 80.0;
    return three_levels(t < 30 ? t : t - 37, 2);
  });
  const Likeness seen = summary_of(likeness(level, 2, 2, 0.1));
  EXPECT_GT(seen.median, 0.95);
  EXPECT_GT(seen.good, 0.8);
}

TEST(Likeness, APlateauSaysNothing) {
  const Series level = level_of(60, 2, [](double t) { return t < 40 ? three_levels(t, 2) : 150.0; });
  const auto stretches = likeness(level, 2, 2, 0.1);
  EXPECT_FALSE(stretches.back().known);
}

TEST(Likeness, TheOddPartOfEveryFifthCycleIsMendedAtFiveCycles) {
  const auto watts = [](double t) {
    const bool odd = static_cast<int>(t / 2) % 5 == 4;
    return odd ? 320 - three_levels(t, 2) : three_levels(t, 2);
  };
  const Series level = level_of(100, 2, watts);
  const Gain g = gain(likeness(level, 2, 2, 0.1), likeness(level, 2, 10, 0.1));
  EXPECT_GT(g.mended, 0.95);
  EXPECT_LT(g.spoilt, 0.05);
  EXPECT_GT(g.mean, 0.2);
  EXPECT_NEAR(g.unlike, 0.5, 0.12);
}

TEST(Likeness, ATwiceAsLongPeriodGainsNothing) {
  const Series level = level_of(100, 2, [](double t) { return three_levels(t, 2); });
  EXPECT_NEAR(gain(likeness(level, 2, 2, 0.1), likeness(level, 2, 4, 0.1)).mean, 0, 0.02);
}

}  // namespace
}  // namespace rubato::progress
