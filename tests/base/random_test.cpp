#include "base/random.h"

#include <gtest/gtest.h>

#include <cmath>

namespace rubato {
namespace {

// First outputs of xoshiro256++ seeded by splitmix64(0), computed independently; they must never change, or
// recorded seeds would lose their meaning.
TEST(Random, TheSameSeedGivesTheSameNumbersOnEveryMachine) {
  Random a(0);
  EXPECT_EQ(a.next(), 0x53175d61490b23dfULL);
  EXPECT_EQ(a.next(), 0x61da6f3dc380d507ULL);
  Random b(7);
  Random c(7);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(b.next(), c.next());
}

TEST(Random, NormalHasMeanZeroAndVarianceOne) {
  Random random(1);
  double sum = 0;
  double squares = 0;
  constexpr int kDraws = 100'000;
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.normal();
    sum += x;
    squares += x * x;
  }
  // Five standard errors.
  EXPECT_NEAR(sum / kDraws, 0.0, 5.0 / std::sqrt(kDraws));
  EXPECT_NEAR(squares / kDraws, 1.0, 5.0 * std::sqrt(2.0 / kDraws));
}

TEST(Random, IndexStaysBelowItsCount) {
  Random random(3);
  for (int i = 0; i < 1000; ++i) EXPECT_LT(random.index(7), 7U);
}

}  // namespace
}  // namespace rubato
