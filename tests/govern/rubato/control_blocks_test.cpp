#include "govern/rubato/control_blocks.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

namespace rubato::govern {
namespace {

TimePoint at_s(double seconds) {
  return TimePoint{} + Seconds(seconds);
}

/// Moments at which blocks of a run began, asked every second; `late`: how much longer than planned they
/// take.
std::vector<double> moments(std::uint64_t seed, double length, double late, double run, double* spent,
                            bool worth = true) {
  Random random(seed);
  ControlBlocks blocks;
  blocks.plan(at_s(0), Seconds(length), random);
  std::vector<double> out;
  for (double now = 0; now < run; now += 1) {
    if (!blocks.due(at_s(now), at_s(0), worth)) continue;
    out.push_back(now);
    blocks.begin(at_s(now));
    now += length + late;
    *spent += length + late;
    blocks.end(at_s(now));
    blocks.plan(at_s(now), Seconds(length), random);
  }
  return out;
}

RC_GTEST_PROP(ControlBlocks, NeverTakeMoreThanOneHundredthOfTheRunAtAnyBlocksEnd, (std::uint64_t seed)) {
  const double length = *rc::gen::inRange(1, 40);
  double spent = 0;
  const auto began = moments(seed, length, 0, 40'000, &spent);
  for (std::size_t i = 0; i < began.size(); ++i)
    RC_ASSERT(static_cast<double>(i + 1) * length <= 0.01 * (began[i] + length) + 1e-6);
}

TEST(ControlBlocks, ABlockThatTookLongerIsPaidForBeforeTheNext) {
  double spent = 0;
  const auto began = moments(3, 5, 10, 30'000, &spent);
  ASSERT_GE(began.size(), 3);
  for (std::size_t i = 1; i < began.size(); ++i)
    EXPECT_GE(began[i], (15 * static_cast<double>(i) + 5) / 0.01);
}

TEST(ControlBlocks, MomentsDifferBySeedAndAreTheSameForTheSame) {
  double spent = 0;
  const auto one = moments(1, 5, 0, 20'000, &spent);
  EXPECT_EQ(one, moments(1, 5, 0, 20'000, &spent));
  EXPECT_NE(one, moments(2, 5, 0, 20'000, &spent));
  EXPECT_GE(one.size(), 20);  // most of what is allowed is used: 40 would be 1 %
}

TEST(ControlBlocks, WhereTheyDoNotPayTheyBecomeRarerAndGoOn) {
  double spent = 0;
  const auto began = moments(1, 5, 0, 20'000, &spent, false);
  EXPECT_GE(began.size(), 6);
  EXPECT_LE(began.size(), 12) << "40 would be 1 %";
  EXPECT_LE(began.front(), 750) << "the first is no later";
  EXPECT_GE(moments(1, 5, 0, 200'000, &spent, false).size(), 90) << "a quarter of 1 % at least";
}

TEST(ControlBlocks, ARunTooShortForOneHasNone) {
  double spent = 0;
  EXPECT_TRUE(moments(1, 5, 0, 499, &spent).empty());
}

}  // namespace
}  // namespace rubato::govern
