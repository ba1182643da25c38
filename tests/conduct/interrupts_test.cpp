#include "conduct/interrupts.h"

#include <gtest/gtest.h>

namespace rubato::conduct {
namespace {

constexpr TimePoint kBegin{1'000'000'000};

TEST(Interrupts, TheSecondRightAfterTheFirstEndsTheWaiting) {
  Interrupts interrupts;
  EXPECT_FALSE(interrupts.came(kBegin));
  EXPECT_TRUE(interrupts.came(kBegin + Seconds(1)));
}

TEST(Interrupts, OneNowAndThenIsTheJobsOwnAffair) {
  Interrupts interrupts;
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(interrupts.came(kBegin + Seconds(5.0 * i)));
}

}  // namespace
}  // namespace rubato::conduct
