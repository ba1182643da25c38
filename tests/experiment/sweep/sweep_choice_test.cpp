#include "experiment/sweep_choice.h"

#include <gmock/gmock.h>

#include <cmath>

#include "analyse/student_t.h"
#include "base/random.h"
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

// Measured once each, two settings differ by more than either does from a default measured six times.
TEST(SweepChoice, SettingsThatAreTheSameAreNamedAsSuchInNineOfTenSweeps) {
  constexpr int kSweeps = 2000;
  Random random(21);
  const auto noisy = [&random](double value) { return value * std::exp(0.01 * random.normal()); };
  int named = 0;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    std::vector<SweepMeasurement> all = {measured(limit(150), noisy(11), noisy(800)),
                                         measured(limit(160), noisy(11), noisy(800))};
    for (unsigned i = 0; i < 3; ++i) all.push_back(control(noisy(10), noisy(1000), i));
    for (unsigned i = 0; i < 3; ++i) all.push_back(measured(limit(200), noisy(10), noisy(900), i));
    const auto best = choices_of(*summarise_sweep(all, &analyse::student_t_quantile), std::nullopt).energy;
    named += best.as_good.empty() ? 0 : 1;
  }
  EXPECT_NEAR(static_cast<double>(named) / kSweeps, 0.90, 0.02);
}

TEST(SweepChoice, SettingsOfTwoStretchesAreToldApartByTheControlsOfBoth) {
  std::vector<SweepMeasurement> all;
  for (unsigned session = 0; session < 2; ++session) {
    for (unsigned i = 0; i < 2; ++i)
      all.push_back(in_session(session, control(10, i == 0 ? 995 : 1005, 2 * session + i)));
  }
  all.push_back(in_session(0, measured(limit(100), 10, 800)));
  all.push_back(in_session(0, measured(limit(120), 10, 800)));
  all.push_back(in_session(1, measured(limit(140), 10, 800)));
  const auto summary = *summarise_sweep(all, &analyse::student_t_quantile);
  const double same = *summary.energy_apart.between(1, 2);
  EXPECT_NEAR(*summary.energy_apart.between(1, 3) / same, std::sqrt((2 + 1.0 / 2 + 1.0 / 2) / 2), 1e-9);
  EXPECT_NEAR(*summary.energy_apart.between(1, 0) / same, std::sqrt((1 + 1.0 / 2) / 2), 1e-9);
}

}  // namespace
}  // namespace rubato::experiment
