#include "progress/period/pauses.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"

namespace rubato::progress {
namespace {

/// Cycles of these lengths over and over, and a pause after every `run` of them; 0: none.
std::vector<Cycle> cycles_of(const std::vector<double>& lengths_s, std::size_t count, std::size_t run = 0,
                             double pause_s = 3) {
  Random random(1);
  std::vector<Cycle> out;
  double at = 5;
  for (std::size_t i = 0; i < count; ++i) {
    if (run > 0 && i > 0 && i % run == 0) at += pause_s;
    const double length = lengths_s[i % lengths_s.size()] * (1 + 0.005 * random.normal());
    out.push_back({at, at + length});
    at += length;
  }
  return out;
}

TEST(CycleOrder, LengthsThatTakeTurnsAreParts) {
  EXPECT_GT(order_of(cycles_of({1, 1.2}, 40)).by_twos_z, 5);
  const CycleOrder threes = order_of(cycles_of({1, 1, 1.2}, 42));
  EXPECT_GT(threes.by_threes_z, 5);
  EXPECT_GT(threes.by_threes_z, threes.by_twos_z + 3);
  EXPECT_GT(order_of(cycles_of({1, 1, 1, 1, 1.3}, 60)).by_more_z, 4);
}

TEST(CycleOrder, EvenLengthsAreNot) {
  const CycleOrder order = order_of(cycles_of({1}, 60));
  EXPECT_LT(order.by_twos_z, 4);
  EXPECT_LT(order.by_threes_z, 4);
  EXPECT_EQ(order.pauses, 0);
  EXPECT_EQ(order.apart_s, 0);
}

TEST(CycleOrder, PausesAfterTheSameTimeAreEven) {
  const CycleOrder order = order_of(cycles_of({1}, 50, 10));
  EXPECT_EQ(order.pauses, 4);
  EXPECT_NEAR(order.apart_s, 13, 0.2);
  EXPECT_LT(order.unevenness, 0.02);
}

TEST(CycleOrder, OfTwoPausesNothingIsSaidOfTheirDistance) {
  EXPECT_EQ(order_of(cycles_of({1}, 25, 10)).apart_s, 0);
  EXPECT_EQ(order_of({}).pauses, 0);
  EXPECT_EQ(order_of({{0, 1}}).by_twos_z, 0);
}

TEST(CycleOrder, LengthsOnBothSidesOfAPauseAreNoPair) {
  // Runs of two: no three cycles follow each other.
  EXPECT_EQ(order_of(cycles_of({1, 1.2}, 40, 2)).by_twos_z, 0);
}

}  // namespace
}  // namespace rubato::progress
