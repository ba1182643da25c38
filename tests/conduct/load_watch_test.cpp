#include "conduct/load_watch.h"

#include <gtest/gtest.h>

namespace rubato::conduct {
namespace {

TimePoint at(double seconds) {
  return TimePoint{} + Seconds(seconds);
}

TEST(LoadWatch, BeforeAnySignOfWorkThereIsNone) {
  EXPECT_FALSE(LoadWatch().at_work(at(10)));
}

TEST(LoadWatch, AGpuThatIsBusyNowAndThenIsAtWorkBetween) {
  LoadWatch load;
  for (int s = 0; s < 60; ++s) {
    load.see(at(s), s % 3 == 0, 0, std::nullopt);
    EXPECT_TRUE(load.at_work(at(s))) << s;
  }
  load.see(at(60), false, 0, std::nullopt);
  EXPECT_TRUE(load.at_work(at(60)));
  EXPECT_FALSE(load.at_work(at(61)));
}

TEST(LoadWatch, IterationsAreWorkWhereTheGpuIsHardlyBusy) {
  LoadWatch load;
  for (int i = 1; i <= 100; ++i) {
    load.see(at(0.3 * i), false, i, at(0.3 * i));
    EXPECT_TRUE(load.at_work(at(0.3 * i)));
  }
  EXPECT_TRUE(load.at_work(at(32)));
  EXPECT_FALSE(load.at_work(at(34)));
}

TEST(LoadWatch, LongIterationsMayRestLonger) {
  LoadWatch load;
  load.see(at(20), true, 1, at(20));
  load.see(at(40), true, 2, at(40));
  EXPECT_TRUE(load.at_work(at(90)));
  EXPECT_FALSE(load.at_work(at(101)));
}

}  // namespace
}  // namespace rubato::conduct
