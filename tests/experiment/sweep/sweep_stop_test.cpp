#include "experiment/sweep_stop.h"

#include <gmock/gmock.h>

#include "analyse/student_t.h"
#include "experiment/sweep/measurements.h"

namespace rubato::experiment {
namespace {

using ::testing::HasSubstr;

SweepSummary of(std::vector<SweepMeasurement> all) {
  all.push_back(control(10.001, 1000.1));
  all.push_back(control(9.999, 999.9, 1));
  return *summarise_sweep(all, &analyse::student_t_quantile);
}

TEST(SweepStop, BelowASettingThatBreaksTheBoundNothingIsMeasured) {
  const auto summary = of({measured(limit(150), 11, 800)});
  EXPECT_THAT(why_skip(limit(125), summary, 0.05).value_or(""), HasSubstr("150 W already takes"));
  EXPECT_FALSE(why_skip(limit(175), summary, 0.05));
}

TEST(SweepStop, WithoutABoundASlowSettingStopsNothing) {
  EXPECT_FALSE(why_skip(limit(125), of({measured(limit(150), 11, 800)}), std::nullopt));
}

TEST(SweepStop, BelowABracketedOptimumNothingIsMeasured) {
  const auto summary = of({measured(limit(175), 11, 800), measured(limit(150), 12, 850)});
  EXPECT_THAT(why_skip(limit(125), summary, std::nullopt).value_or(""), HasSubstr("rises again"));
  EXPECT_FALSE(why_skip(limit(165), summary, std::nullopt));
  EXPECT_FALSE(why_skip(limit(200), summary, std::nullopt));
}

TEST(SweepStop, ARiseWithinTheScatterStopsNothing) {
  const auto summary = of({measured(limit(175), 11, 800), measured(limit(150), 12, 800.05)});
  EXPECT_FALSE(why_skip(limit(125), summary, std::nullopt));
}

TEST(SweepStop, InAGridOnlySettingsBelowInEveryKnobAreLeftOutForTheBound) {
  const predict::KnobPoint slow{.power_limit = Watts(150), .sm_clock = Megahertz(1000)};
  const auto summary = of({measured(slow, 12, 800)});
  EXPECT_TRUE(why_skip({.power_limit = Watts(125), .sm_clock = Megahertz(1000)}, summary, 0.05));
  EXPECT_TRUE(why_skip({.power_limit = Watts(125), .sm_clock = Megahertz(900)}, summary, 0.05));
  EXPECT_FALSE(why_skip({.power_limit = Watts(125), .sm_clock = Megahertz(1100)}, summary, 0.05));
}

}  // namespace
}  // namespace rubato::experiment
