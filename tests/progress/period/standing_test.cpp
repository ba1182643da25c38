#include "progress/period/standing.h"

#include <gtest/gtest.h>

namespace rubato::progress {
namespace {

Standing confirmed(double confidence, int times) {
  Standing out;
  out.stated(confidence);
  for (int i = 0; i < times; ++i) out.stepped(true);
  return out;
}

TEST(Standing, OneMissIsAStall) {
  Standing standing = confirmed(0.9, 10);
  standing.stepped(false);
  EXPECT_DOUBLE_EQ(standing.confidence(), 0.9);
  EXPECT_FALSE(standing.lost());
  EXPECT_FALSE(standing.confirmed());
}

TEST(Standing, TwoInARowAreNotAndTheNextThatFindsItIsBelieved) {
  for (const double confidence : {0.9, 0.97}) {
    Standing standing = confirmed(confidence, 10);
    standing.stepped(false);
    standing.stepped(false);
    EXPECT_LT(standing.confidence(), 0.6);
    EXPECT_TRUE(standing.lost());
    standing.stepped(true);
    EXPECT_DOUBLE_EQ(standing.confidence(), confidence);
    EXPECT_FALSE(standing.lost());
  }
}

TEST(Standing, WhereShortLooksSeldomFindItTheirMissesSayLittle) {
  Standing standing = confirmed(0.9, 0);
  for (int i = 0; i < 30; ++i) standing.stepped(i % 3 == 2);
  standing.stepped(false);
  standing.stepped(false);
  EXPECT_GT(standing.confidence(), 0.7);
  EXPECT_FALSE(standing.lost());
}

// Else it would be looked for at every other step.
TEST(Standing, ALookThatFindsItAfterAllMakesShortOnesCountForLess) {
  Standing standing = confirmed(0.9, 100);
  const auto misses_until_lost = [&] {
    int misses = 0;
    for (; !standing.lost(); ++misses) standing.stepped(false);
    return misses;
  };
  const int first = misses_until_lost();
  standing.stated_again(0.9, true);
  const int second = misses_until_lost();
  standing.stated_again(0.9, true);
  EXPECT_EQ(first, 2);
  EXPECT_GT(second, 2 * first);
  EXPECT_GT(misses_until_lost(), 2 * second);
}

TEST(Standing, ALookAtWhatWasBeforeTakesNoDoubtAway) {
  Standing standing = confirmed(0.9, 10);
  standing.stepped(false);
  standing.stepped(false);
  standing.stated_again(0.97, false);
  EXPECT_LT(standing.confidence(), 0.5);
  standing.stated(0.97);
  EXPECT_DOUBLE_EQ(standing.confidence(), 0.97);
}

}  // namespace
}  // namespace rubato::progress
