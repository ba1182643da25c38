#include "conduct/stall_watch.h"

#include <gtest/gtest.h>

namespace rubato::conduct {
namespace {

constexpr TimePoint kBegin{1'000'000'000};

TEST(StallWatch, ProgressAndSleepAreNoStandstill) {
  StallWatch watch(kBegin);
  for (int second = 1; second < 100; ++second) {
    EXPECT_FALSE(watch.stalled(kBegin + Seconds(second), static_cast<std::uint64_t>(second), false));
  }
  EXPECT_FALSE(watch.stalled(kBegin + Seconds(3600), 99, true)) << "nothing was due";
}

TEST(StallWatch, OneCallThatDoesNotReturnIs) {
  StallWatch watch(kBegin);
  EXPECT_FALSE(watch.stalled(kBegin, 7, false));
  EXPECT_FALSE(watch.stalled(kBegin + Seconds(2.9), 7, false));
  EXPECT_TRUE(watch.stalled(kBegin + Seconds(3.1), 7, false));
  EXPECT_FALSE(watch.stalled(kBegin + Seconds(3.2), 8, false)) << "it came back";
}

}  // namespace
}  // namespace rubato::conduct
