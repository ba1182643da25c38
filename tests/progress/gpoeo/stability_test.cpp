#include "progress/gpoeo/stability.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace rubato::progress::gpoeo {
namespace {

using Kind = Judgement::Kind;

std::vector<double> saw(double period, double seconds) {
  std::vector<double> trace;
  for (int i = 0; i < static_cast<int>(seconds * 10); ++i)
    trace.push_back(20 + 70 * std::fmod(i * 0.1 + 1e-9, period) / period);
  return trace;
}

TEST(GpoeoStability, EstimatesThatAgreeAreStable) {
  const Judgement judgement = judge(saw(2, 25), 15, Mode::strict);
  EXPECT_EQ(judgement.kind, Kind::stable);
  EXPECT_NEAR(judgement.period, 2, 0.1);
  EXPECT_LT(judgement.spread, 0.10);
}

TEST(GpoeoStability, ALongPeriodAsksForMoreUntilItIsCovered) {
  const Judgement judgement = judge(saw(7, 25), 15, Mode::strict);
  ASSERT_EQ(judgement.kind, Kind::more);
  EXPECT_GE(judgement.more, 5.3 * judgement.period - 25);
  EXPECT_EQ(judge(saw(7, 25 + judgement.more), 15, Mode::strict).kind, Kind::stable);
}

TEST(GpoeoStability, APeriodThatIsAnotherInEachThirdIsUnstable) {
  std::vector<double> trace = saw(1, 20);
  for (const double period : {3.0, 6.0}) {
    const std::vector<double> next = saw(period, 20);
    trace.insert(trace.end(), next.begin(), next.end());
  }
  EXPECT_EQ(judge(trace, 15, Mode::strict).kind, Kind::unstable);
}

}  // namespace
}  // namespace rubato::progress::gpoeo
