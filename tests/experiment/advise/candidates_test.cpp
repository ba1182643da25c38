#include "experiment/advise/candidates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace rubato::experiment {
namespace {

CandidateRanges ranges() {
  CandidateRanges out{
      .limits = {.min = 98_W, .max = 300_W, .default_limit = 250_W, .requested = 200_W, .enforced = 200_W},
      .sm_clocks = {},
      .memory_clocks = {877_MHz, 810_MHz}};
  for (int k = 0; k < 200; ++k) out.sm_clocks.emplace_back(1380.0 - 5 * k);
  return out;
}

TEST(Candidates, LimitsGoFromTheLowestToTheOneThatWasFoundNeverAbove) {
  const auto points = candidates(ranges(), std::array{Knob::power_limit});
  ASSERT_FALSE(points.empty());
  EXPECT_EQ(points.front().power_limit, 98_W);
  EXPECT_EQ(points[1].power_limit, 100_W);
  EXPECT_EQ(points.back().power_limit, 200_W);
  EXPECT_EQ(points.size(), 22U);
  EXPECT_FALSE(points.front().sm_clock);
}

TEST(Candidates, ClocksKeepTheirEndsWhereTheyAreThinned) {
  const auto points = candidates(ranges(), std::array{Knob::sm_clock});
  EXPECT_EQ(points.front().sm_clock, 385_MHz);
  EXPECT_EQ(points.back().sm_clock, 1380_MHz);
  EXPECT_LE(points.size(), 100U);
}

TEST(Candidates, AllKnobsTogetherAreAtMostWhatAModelAnswersAtOnce) {
  const auto points = candidates(ranges(), std::array{Knob::power_limit, Knob::sm_clock, Knob::memory_clock});
  EXPECT_LE(points.size(), kMostCandidates);
  EXPECT_GT(points.size(), kMostCandidates / 2);
  auto distinct = points;
  std::sort(distinct.begin(), distinct.end());
  EXPECT_EQ(std::unique(distinct.begin(), distinct.end()), distinct.end());
}

TEST(Candidates, AKnobTheGpuLacksGivesNone) {
  CandidateRanges none = ranges();
  none.sm_clocks.clear();
  EXPECT_TRUE(candidates(none, std::array{Knob::sm_clock}).empty());
}

}  // namespace
}  // namespace rubato::experiment
