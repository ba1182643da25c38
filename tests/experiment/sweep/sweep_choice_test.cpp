#include "experiment/sweep_choice.h"

#include <gmock/gmock.h>

#include "analyse/student_t.h"
#include "experiment/sweep/measurements.h"

namespace rubato::experiment {
namespace {

using ::testing::ElementsAre;

/// Default, then 200, 150 and 100 W; `scatter` between the two runs of each.
SweepSummary four_settings(double scatter) {
  std::vector<SweepMeasurement> all;
  for (unsigned i = 0; i < 2; ++i) {
    const double factor = i == 0 ? 1 + scatter : 1 - scatter;
    all.push_back(control(10 * factor, 1000 * factor, i));
    all.push_back(measured(limit(200), 10.2 * factor, 900 * factor, i));
    all.push_back(measured(limit(150), 11 * factor, 850 * factor, i));
    all.push_back(measured(limit(100), 14 * factor, 950 * factor, i));
  }
  return *summarise_sweep(all, &analyse::student_t_quantile);
}

TEST(SweepChoice, NamesTheOptimaAndTheFront) {
  const auto choices = choices_of(four_settings(0.0001), std::nullopt);
  EXPECT_EQ(choices.energy.setting, 2U);
  EXPECT_EQ(choices.edp.setting, 1U);
  EXPECT_EQ(choices.time.setting, 0U);
  EXPECT_THAT(choices.front, ElementsAre(0, 1, 2));
  EXPECT_FALSE(choices.inside);
}

TEST(SweepChoice, TheBestInsideTheBoundIsTheCheapestOneThatHoldsIt) {
  const auto choices = choices_of(four_settings(0.0001), 0.05);
  ASSERT_TRUE(choices.inside);
  EXPECT_EQ(choices.inside->setting, 1U);
  EXPECT_TRUE(choices.inside->surely);
}

TEST(SweepChoice, AnIntervalThatReachesBeyondTheBoundIsSaid) {
  const auto choices = choices_of(four_settings(0.05), 0.03);
  ASSERT_TRUE(choices.inside);
  EXPECT_EQ(choices.inside->setting, 1U);
  EXPECT_FALSE(choices.inside->surely);
}

TEST(SweepChoice, NothingInsideTheBoundIsTheDefault) {
  const auto choices = choices_of(four_settings(0.0001), 0.001);
  ASSERT_TRUE(choices.inside);
  EXPECT_EQ(choices.inside->setting, 0U);
}

TEST(SweepChoice, SettingsThatNoisyRunsCannotTellApartAreNamed) {
  EXPECT_TRUE(choices_of(four_settings(0.0001), std::nullopt).energy.as_good.empty());
  EXPECT_THAT(choices_of(four_settings(0.05), std::nullopt).energy.as_good, ElementsAre(1, 3));
}

}  // namespace
}  // namespace rubato::experiment
