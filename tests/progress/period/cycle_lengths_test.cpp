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

/// Neighbours overlap in the detector; here each stands for itself.
std::vector<double> lengths_around(const std::vector<double>& levels, double deviation) {
  Random random(7);
  std::vector<double> out;
  for (const double level : levels) out.push_back(level * (1 + deviation * random.normal()));
  return out;
}

TEST(LongerLevel, IsOnesOwnLengthWhereAClockChangedThem) {
  for (const std::size_t slow : {12U, 25U}) {
    std::vector<double> levels(37 - slow, 2.3);
    levels.insert(levels.end(), slow, 3.1);
    const auto lengths = lengths_around(levels, 0.02);
    EXPECT_EQ(longer_level(lengths).size(), 25U);
    EXPECT_NEAR(typical_length(lengths), slow == 25 ? 3.1 : 2.3, 0.05);
  }
}

TEST(LongerLevel, IsAllOfThemWhereTheyDriftOrOnlyScatter) {
  std::vector<double> drifting;
  for (int i = 0; i < 40; ++i) drifting.push_back(1 + 0.02 * i);
  EXPECT_EQ(longer_level(drifting).size(), 40U);
  EXPECT_EQ(longer_level(lengths_around(std::vector<double>(40, 1.0), 0.1)).size(), 40U);
}

TEST(LongerLevel, OfFewLengthsIsAllOfThem) {
  EXPECT_EQ(longer_level({1, 1, 1, 1, 1, 2, 2, 2, 2}).size(), 9U);
  EXPECT_EQ(longer_level({1, 1, 1, 1, 1, 2, 2, 2, 2, 2}).size(), 5U);
  EXPECT_TRUE(longer_level({}).empty());
}

}  // namespace
}  // namespace rubato::progress
