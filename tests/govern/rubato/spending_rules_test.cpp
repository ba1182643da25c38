#include "govern/rubato/spending_rules.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "made_stretch.h"

namespace rubato::govern {
namespace {

double caution(Errors errors) {
  predict::Draws draws{Eigen::MatrixXd::Zero(2, 1), Eigen::MatrixXd::Zero(2, 1)};
  const Program program{
      plan::CurveBelief({{.power_limit = 200_W}, {.power_limit = 300_W}}, 1, std::move(draws)),
      stretch(0, 5)};
  return spending_rules(program, errors).caution;
}

// A mean over ever more of the same, in its own standard errors, is an Ornstein-Uhlenbeck process in the
// logarithm of how much was seen.
TEST(SpendingRules, OneRunInAHundredIsFurtherOffBeforeAThousandTimesTheBaselineWasSeen) {
  constexpr int kRuns = 10'000;
  constexpr double kStep = 0.004;
  const double kept = std::exp(-kStep / 2);
  const double moved = std::sqrt(1 - kept * kept);
  const double most = caution(Errors::of_the_sum);
  Random random(1);
  int over = 0;
  for (int run = 0; run < kRuns; ++run) {
    double off = random.normal();
    for (double seen = 0; off <= most && seen < std::log(1000); seen += kStep)
      off = kept * off + moved * random.normal();
    if (off > most) ++over;
  }
  EXPECT_NEAR(over, 0.009 * kRuns, 0.003 * kRuns);
}

TEST(SpendingRules, ErrorsTakenAsOneNeedLessRoom) {
  EXPECT_LT(caution(Errors::as_one), caution(Errors::of_the_sum));
  EXPECT_GT(caution(Errors::as_one), 3);
}

}  // namespace
}  // namespace rubato::govern
