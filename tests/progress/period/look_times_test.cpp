#include "progress/period/look_times.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace rubato::progress {
namespace {

std::vector<double> looks(LookTimes times, double from_s, double to_s, double decided_s,
                          Known then = Known::period) {
  std::vector<double> out;
  for (double now = from_s; now < to_s; now += 0.05) {
    if (!times.due(now)) continue;
    times.looked(now, now > decided_s ? then : Known::nothing);
    out.push_back(now);
  }
  return out;
}

TEST(LookTimes, ComeOftenUntilTheFirstWordThenEverMoreRarely) {
  const auto all = looks(LookTimes(), 0, 200, 9);
  ASSERT_GE(all.size(), 12U);
  EXPECT_NEAR(all[0], 4.05, 0.06);
  EXPECT_NEAR(all[1] / all[0], 1.12, 0.03);
  EXPECT_NEAR(all.back() / all[all.size() - 2], 2, 0.01);
}

double longest_wait(const std::vector<double>& looks) {
  double out = 0;
  for (std::size_t i = 1; i < looks.size(); ++i) out = std::max(out, looks[i] - looks[i - 1]);
  return out;
}

TEST(LookTimes, AreNeverHoursApartAndOftenerWhereNoPeriodIsKnown) {
  EXPECT_NEAR(longest_wait(looks(LookTimes(), 0, 8 * 3600, 9)), 3600, 1);
  EXPECT_NEAR(longest_wait(looks(LookTimes(), 0, 8 * 3600, 9, Known::no_period)), 900, 1);
}

TEST(LookTimes, OfAPartOfTheTraceBeginAtOnceAndGoByItsLength) {
  const auto all = looks(LookTimes(7200, 7244), 7244, 7400, 7244);
  ASSERT_GE(all.size(), 2U);
  EXPECT_NEAR(all[0], 7244, 0.06);
  EXPECT_NEAR(all[1], 7255, 0.06);
}

}  // namespace
}  // namespace rubato::progress
