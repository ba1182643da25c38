#include "experiment/latency/pairs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace rubato::experiment {
namespace {

std::vector<Megahertz> table() {
  std::vector<Megahertz> out;
  for (int mhz = 210; mhz <= 2100; mhz += 15) out.emplace_back(mhz);
  return out;
}

TEST(LatencyPairs, TheUsualTwelveCoverTheRangeHalfOfItAndSingleStepsBothWays) {
  const auto pairs = usual_pairs(table(), Megahertz(1890), Megahertz(7001));
  ASSERT_EQ(pairs.size(), 12U);
  double least = 1e9;
  double most = 0;
  for (const ClockPair& pair : pairs) {
    const ClockPair back{pair.to, pair.from};
    EXPECT_NE(std::find(pairs.begin(), pairs.end(), back), pairs.end());
    EXPECT_GE(pair.from.sm, Megahertz(700)) << "a third of the highest";
    EXPECT_LE(pair.from.sm, Megahertz(1890)) << "not above what the load reaches";
    least = std::min(least, std::abs((pair.to.sm - pair.from.sm).value()));
    most = std::max(most, std::abs((pair.to.sm - pair.from.sm).value()));
  }
  EXPECT_EQ(least, 15);
  EXPECT_EQ(most, 1185) << "705 to 1890 MHz";
}

TEST(LatencyPairs, MoreAreBetweenOtherClocksAndNoneIsThereTwice) {
  for (const unsigned count : {1U, 5U, 12U, 40U}) {
    const auto pairs = usual_pairs(table(), Megahertz(2100), Megahertz(7001), count);
    EXPECT_EQ(pairs.size(), count);
    for (std::size_t i = 0; i < pairs.size(); ++i)
      EXPECT_EQ(std::count(pairs.begin(), pairs.end(), pairs[i]), 1);
  }
}

TEST(LatencyPairs, AShortTableGivesWhatItHas) {
  const std::vector<Megahertz> two{Megahertz(1000), Megahertz(1500)};
  EXPECT_EQ(usual_pairs(two, Megahertz(1500), Megahertz(877)).size(), 2U);
  EXPECT_TRUE(usual_pairs(two, Megahertz(1000), Megahertz(877)).empty());
}

TEST(LatencyPairs, MemoryClocksAreTimedToTheirNeighboursAndFromEndToEnd) {
  const std::vector<Megahertz> memory{Megahertz(5001), Megahertz(6501), Megahertz(7001)};
  EXPECT_EQ(memory_pairs(memory, Megahertz(1200)).size(), 6U);
  EXPECT_EQ(memory_pairs(std::span(memory).first(2), Megahertz(1200)).size(), 2U);
  EXPECT_TRUE(memory_pairs(std::span(memory).first(1), Megahertz(1200)).empty());
}

TEST(LatencyPairs, AListIsReadAndAClockThatIsNotThereNamesTheNearest) {
  const auto pairs = parse_pairs("900:1500,1500:900", table(), Megahertz(7001));
  ASSERT_TRUE(pairs) << pairs.error().what;
  ASSERT_EQ(pairs->size(), 2U);
  EXPECT_EQ(pairs->at(1).to.sm, Megahertz(900));
  EXPECT_THAT(parse_pairs("901:1500", table(), Megahertz(7001)).error().what, testing::HasSubstr("900 MHz"));
  EXPECT_FALSE(parse_pairs("900", table(), Megahertz(7001)));
  EXPECT_FALSE(parse_pairs("900:900", table(), Megahertz(7001)));
  EXPECT_FALSE(parse_pairs("900:fast", table(), Megahertz(7001)));
}

}  // namespace
}  // namespace rubato::experiment
