#include "progress/period/dispersion.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "progress/period/wave.h"

namespace rubato::progress {
namespace {

Events waves(double period_s, double step_s = 0.047, double length_s = 60) {
  Events out;
  for (double t = 0; t < length_s; t += step_s) {
    out.at_s.push_back(t);
    out.value.push_back(three_levels(t, period_s));
  }
  return out;
}

TEST(Dispersion, TheTruePeriodForetellsNearlyAllAndAnotherNothing) {
  EXPECT_GT(foretold({waves(1.3)}, 1.3, 10, 0.05), 0.8);
  EXPECT_LT(foretold({waves(1.3)}, 1.7, 10, 0.05), 0.1);
}

TEST(Dispersion, AMultiplePaysForItsFewerCycles) {
  Random random(3);
  auto column = waves(1.3);
  for (double& v : column.value) v += 60 * random.normal();
  EXPECT_GT(foretold({column}, 1.3, 10.4, 0.05), foretold({column}, 2.6, 10.4, 0.05) + 0.03);
}

TEST(Dispersion, HalfOfAPeriodForetellsLess) {
  const auto column = waves(1.3);
  EXPECT_LT(foretold({column}, 0.65, 10.4, 0.05), foretold({column}, 1.3, 10.4, 0.05) - 0.2);
}

TEST(Dispersion, AStallSpoilsOnlyItsOwnStretch) {
  auto stalled = waves(1.3);
  for (std::size_t i = 600; i < stalled.at_s.size(); ++i) stalled.at_s[i] += 0.6;
  EXPECT_GT(foretold({stalled}, 1.3, 10, 0.05), 0.6);
}

TEST(Dispersion, NothingToFoldForetellsNothing) {
  EXPECT_EQ(foretold({}, 1, 10, 0.05), 0);
  EXPECT_EQ(foretold({Events{}}, 1, 10, 0.05), 0);
  Events flat = waves(1.3);
  for (double& v : flat.value) v = 0;
  EXPECT_EQ(foretold({flat}, 1.3, 10, 0.05), 0);
}

}  // namespace
}  // namespace rubato::progress
