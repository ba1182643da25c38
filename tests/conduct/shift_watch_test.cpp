#include "conduct/shift_watch.h"

#include <gtest/gtest.h>

#include <cmath>

namespace rubato::conduct {
namespace {

constexpr TimePoint kBegin{};

TimePoint at(double seconds) {
  return kBegin + Seconds(seconds);
}

/// A job of one iteration a second whose power is told five times in each: a ripple in it, and `watts`.
class ShiftWatchTest : public testing::Test {
 protected:
  std::optional<Shift> run(double from, double to, double watts, double period = 1.0,
                           bool iterations = true) {
    std::optional<Shift> shift;
    int index = 0;
    for (double t = from; t < to; t += period) {
      for (int k = 0; k < 5; ++k) {
        const double ripple = 20 * std::sin(k * 1.3) + 0.3 * std::sin(t * 7.7);
        watch_.fast({.at = at(t + k * period / 5), .power = Watts(watts + ripple)});
      }
      if (iterations)
        watch_.iteration({{index++, at(t), at(t + period * (1 + 0.001 * std::sin(t)))}, false, false, {}});
      if (auto seen = watch_.step(at(t + period)); seen && !shift) shift = seen;
    }
    return shift;
  }

  ShiftWatch watch_;
};

TEST_F(ShiftWatchTest, ASteadyJobDoesNotShift) {
  EXPECT_FALSE(run(0, 600, 200));
}

TEST_F(ShiftWatchTest, AJobThatDrawsAFifthMoreHasShifted) {
  EXPECT_FALSE(run(0, 120, 200));
  const auto shift = run(120, 240, 240);
  ASSERT_TRUE(shift);
  EXPECT_EQ(shift->what, "power");
  EXPECT_NEAR((shift->at - kBegin).value(), 120, 10);
  EXPECT_NEAR(shift->to / shift->from, 1.2, 0.05);
}

TEST_F(ShiftWatchTest, WithoutIterationsStretchesGoByTime) {
  EXPECT_FALSE(run(0, 120, 200, 1.0, false));
  EXPECT_TRUE(run(120, 240, 300, 1.0, false));
}

TEST_F(ShiftWatchTest, AChangeThatIsExplainedIsNoShift) {
  EXPECT_FALSE(run(0, 120, 200));
  watch_.rebase(at(120));
  EXPECT_FALSE(run(120, 300, 140));
}

}  // namespace
}  // namespace rubato::conduct
