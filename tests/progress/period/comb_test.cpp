#include "progress/period/comb.h"

#include <gtest/gtest.h>

#include "progress/period/wave.h"

namespace rubato::progress {
namespace {

LagProfile profile_by(const std::function<double(double)>& watts) {
  const Samples samples = samples_of(readings(60, 0.05, 5, watts));
  return profile_of(high_pass(resample(samples, 0, 60, 0.05, varying_columns(samples, 0, 60)), 9), 0.05);
}

/// Cycles of 1.3 s of which each third works less.
double in_threes(double t) {
  const bool third = std::fmod(t, 3.9) > 2.6;
  return third ? 0.8 * three_levels(t, 1.3) : three_levels(t, 1.3);
}

TEST(Comb, OfTheCycleStandsOutAgainstHalvesAndThirds) {
  const Comb comb = comb_of(profile_by([](double t) { return three_levels(t, 1.3); }), 1.3);
  EXPECT_GT(comb.teeth, 0.8);
  EXPECT_GT(comb.halves, 0.5);
  EXPECT_GT(comb.least_z, 10);
  EXPECT_NEAR(comb.doubles, 0, 0.03);
  EXPECT_NEAR(comb.triples, 0, 0.03);
}

TEST(Comb, OfTwiceTheCycleDoesNotStandOutAgainstHalves) {
  const auto profile = profile_by([](double t) { return three_levels(t, 1.3); });
  const Comb comb = comb_of(profile, 2.6);
  EXPECT_GT(comb.teeth, 0.8);
  EXPECT_NEAR(comb.halves, 0, 0.03);
  EXPECT_LT(comb.least_z, comb_of(profile, 1.3).least_z / 3);
}

TEST(Comb, OfAThirdShowsThatThreeOfThemAreTheCycle) {
  const auto profile = profile_by(in_threes);
  const Comb part = comb_of(profile, 1.3);
  EXPECT_GT(part.triples, 0.1);
  EXPECT_GT(part.triples_z, 5);
  EXPECT_GE(part.multiple_z, part.triples_z);
  EXPECT_GT(comb_of(profile, 3.9).thirds, 0.1);
}

TEST(Comb, IsNothingWhereTheProfileDoesNotReach) {
  const auto profile = profile_by([](double t) { return three_levels(t, 1.3); });
  EXPECT_EQ(comb_of(profile, 50).teeth, 0);
  EXPECT_EQ(comb_of(LagProfile{}, 1).multiple_z, 0);
}

}  // namespace
}  // namespace rubato::progress
