#include "progress/period/cycle_lengths.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace rubato::progress {
namespace {

/// Marks that fall anywhere within an update.
std::vector<Cycle> marked(double length_s, std::size_t count, double update_s) {
  Random random(3);
  std::vector<Cycle> out;
  double last = 0;
  for (std::size_t i = 1; i <= count; ++i) {
    const double at = static_cast<double>(i) * length_s + update_s * random.uniform(-0.5, 0.5);
    out.push_back({last, at});
    last = at;
  }
  return out;
}

TEST(OverlappingLengths, AreMeansOverTwentyUpdatesOrTwoCycles) {
  EXPECT_EQ(overlapping_lengths(marked(0.5, 30, 0.1), 0.5, 0.1).size(), 27U);  // four cycles each
  EXPECT_EQ(overlapping_lengths(marked(5, 30, 0.1), 5, 0.1).size(), 29U);      // two
  EXPECT_TRUE(overlapping_lengths(marked(0.5, 3, 0.1), 0.5, 0.1).empty());
}

TEST(OverlappingLengths, TellALengthThatNoSingleCycleDoes) {
  const auto cycles = marked(0.43, 60, 0.1);
  EXPECT_NEAR(steady_median(overlapping_lengths(cycles, 0.43, 0.1)), 0.43, 0.004);
}

TEST(OverlappingLengths, DoNotReachOverPauses) {
  std::vector<Cycle> cycles = {{0, 2}, {2, 4}, {9, 11}, {11, 13}, {13, 15}};
  const auto lengths = overlapping_lengths(cycles, 2, 0.1);
  ASSERT_EQ(lengths.size(), 3U);
  for (const double length : lengths) EXPECT_DOUBLE_EQ(length, 2);
}

}  // namespace
}  // namespace rubato::progress
