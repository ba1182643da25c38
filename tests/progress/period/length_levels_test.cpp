#include "progress/period/length_levels.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace rubato::progress {
namespace {

/// Neighbours overlap in the detector; here each stands for itself.
std::vector<TimedLength> around(const std::vector<double>& levels, double deviation) {
  Random random(7);
  std::vector<TimedLength> out;
  double at_s = 0;
  for (const double level : levels) {
    const double length_s = level * (1 + deviation * random.normal());
    at_s += length_s;
    out.push_back({at_s, length_s});
  }
  return out;
}

std::vector<double> levels(std::initializer_list<std::pair<std::size_t, double>> counts) {
  std::vector<double> out;
  for (const auto& [count, level] : counts) out.insert(out.end(), count, level);
  return out;
}

TEST(TypicalLength, IsThatOfTheLongerPartWhereAClockChanged) {
  EXPECT_NEAR(typical_length(around(levels({{12, 2.3}, {25, 3.1}}), 0.02)), 3.1, 0.06);
  EXPECT_NEAR(typical_length(around(levels({{25, 2.3}, {12, 3.1}}), 0.02)), 2.3, 0.06);
}

TEST(TypicalLength, IsTheMiddleOneWhereClocksChangedTwice) {
  EXPECT_NEAR(typical_length(around(levels({{20, 1.0}, {20, 1.4}, {15, 1.2}}), 0.01)), 1.2, 0.03);
  EXPECT_NEAR(typical_length(around(levels({{30, 1.4}, {9, 1.0}, {9, 1.2}}), 0.01)), 1.4, 0.04);
}

TEST(TypicalLength, OfManyLengthsIsFoundAsWell) {
  EXPECT_NEAR(typical_length(around(levels({{900, 0.2}, {1500, 0.3}}), 0.02)), 0.3, 0.01);
}

TEST(TypicalLength, CountsIterationsThatWereNotFollowed) {
  auto lengths = around(levels({{10, 2.0}, {15, 3.0}}), 0.01);
  // Forty seconds in the middle of the shorter ones that nothing was followed in: twenty more of them.
  for (std::size_t i = 5; i < lengths.size(); ++i) lengths[i].at_s += 40;
  EXPECT_NEAR(typical_length(lengths), 2.0, 0.06);
}

TEST(TypicalLength, IsTheSteadyMedianOfAllWhereLengthsDriftOrOnlyScatter) {
  std::vector<double> drifting;
  for (int i = 0; i < 40; ++i) drifting.push_back(1 + 0.02 * i);
  for (const auto& lengths : {around(drifting, 0), around(std::vector<double>(40, 1.0), 0.1)}) {
    std::vector<double> all;
    for (const TimedLength& length : lengths) all.push_back(length.length_s);
    EXPECT_DOUBLE_EQ(typical_length(lengths), steady_median(all));
  }
}

TEST(TypicalLength, OfFewLengthsIsTheirMedian) {
  EXPECT_DOUBLE_EQ(typical_length(around({1, 1, 1, 1, 1, 2, 2, 2, 2}, 0)), 1);
  EXPECT_DOUBLE_EQ(typical_length({{3, 3}}), 3);
}

}  // namespace
}  // namespace rubato::progress
