#include "experiment/sweep_summary.h"

#include <gmock/gmock.h>

#include <cmath>

#include "analyse/student_t.h"
#include "base/random.h"
#include "experiment/sweep/measurements.h"

namespace rubato::experiment {
namespace {

Result<SweepSummary> summarise(const std::vector<SweepMeasurement>& all) {
  return summarise_sweep(all, &analyse::student_t_quantile);
}

TEST(SweepSummary, ASettingIsComparedWithTheControls) {
  const auto summary = summarise({control(10, 1000), measured(limit(150), 11, 800), control(10, 1000, 1)});
  ASSERT_TRUE(summary);
  ASSERT_EQ(summary->settings.size(), 2U);
  EXPECT_TRUE(summary->settings[0].is_default());
  EXPECT_NEAR(summary->settings[1].time_over_default.value, 1.1, 1e-12);
  EXPECT_NEAR(summary->settings[1].energy_over_default.value, 0.8, 1e-12);
  EXPECT_NEAR(summary->settings[1].edp_over_default.value, 0.88, 1e-12);
}

TEST(SweepSummary, WithoutAUsableControlThereIsNothingToCompareWith) {
  auto lost = control(10, 1000);
  lost.not_used = "its record was cut short";
  EXPECT_EQ(summarise({lost, measured(limit(150), 11, 800)}).error().code, ErrorCode::unavailable);
}

TEST(SweepSummary, WarmUpRunsCountNowhere) {
  auto warmup = control(20, 3000);
  warmup.warmup = true;
  const auto summary = summarise({warmup, control(10, 1000), measured(limit(150), 11, 800)});
  ASSERT_TRUE(summary);
  EXPECT_NEAR(summary->settings[0].time.value(), 10, 1e-9);
}

TEST(SweepSummary, ARunThatTheMachineHeldUpIsNamedAndNotUsed) {
  auto blind = control(119.8, 7000, 5);
  blind.energy_band = 0.9;
  const std::vector<SweepMeasurement> all = {control(139.4, 7500),
                                             measured(limit(66), 67.2, 3600),
                                             control(66.6, 4000, 1),
                                             control(66.1, 4010, 2),
                                             measured(limit(66), 67.4, 3610, 1),
                                             control(66.2, 3990, 3),
                                             control(66.4, 4005, 4),
                                             blind};
  const auto summary = summarise(all);
  ASSERT_TRUE(summary);
  EXPECT_NEAR(summary->settings[0].time.value(), 66.3, 0.1);
  EXPECT_EQ(summary->settings[0].runs, 4U);
  ASSERT_EQ(summary->settings[0].not_used.size(), 2U);
  EXPECT_THAT(summary->settings[0].not_used[0],
              testing::HasSubstr("it took 139.4 s, and the others of its setting 66.4"));
  EXPECT_THAT(summary->settings[0].not_used[1], testing::HasSubstr("known to 90 % only"));
  EXPECT_NEAR(summary->settings[1].time_over_default.value, 1.0147, 1e-3);
}

TEST(SweepSummary, RunsThatScatterAllAlikeAreAllUsed) {
  Random random(5);
  std::vector<SweepMeasurement> all;
  for (unsigned i = 0; i < 12; ++i) {
    all.push_back(control(10 * std::exp(0.1 * random.normal()), 1000, i));
    all.push_back(measured(limit(150), 11 * std::exp(0.1 * random.normal()), 800, i));
  }
  const auto summary = summarise(all);
  ASSERT_TRUE(summary);
  EXPECT_TRUE(summary->settings[0].not_used.empty());
  EXPECT_TRUE(summary->settings[1].not_used.empty());
}

TEST(SweepSummary, NothingMeasuredTwiceGivesNoInterval) {
  const auto summary = summarise({control(10, 1000), measured(limit(150), 11, 800)});
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->degrees, 0);
  EXPECT_FALSE(summary->settings[1].time_over_default.low);
}

TEST(SweepSummary, ASettingThatDidNotTakeIsNamedAndNotUsed) {
  auto refused = measured(limit(120), 10, 1000);
  refused.not_used = "the enforced limit under load was 150 W, asked for was 120 W";
  const auto summary = summarise({control(10, 1000), refused, control(10, 1000, 1)});
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->settings.size(), 1U);
  ASSERT_EQ(summary->lost.size(), 1U);
  EXPECT_THAT(summary->lost[0].not_used, ::testing::ElementsAre(refused.not_used));
}

TEST(SweepSummary, ADriftOfTheBaselineIsFoundAndTakenOut) {
  std::vector<SweepMeasurement> all;
  Random random(3);
  double drift = 1;
  for (unsigned i = 0; i < 8; ++i) {
    const auto noise = [&random] { return std::exp(1e-4 * random.normal()); };
    all.push_back(control(10 * drift * noise(), 1000 * drift * noise(), i));
    drift *= 1.01;
    all.push_back(measured(limit(150), 12 * drift * noise(), 900 * drift * noise(), i));
    drift *= 1.01;
  }
  const auto summary = summarise(all);
  ASSERT_TRUE(summary);
  ASSERT_EQ(summary->drift.size(), 1U);
  EXPECT_TRUE(summary->drift[0].time_taken_out);
  EXPECT_NEAR(*summary->drift[0].time, std::pow(1.01, 15) - 1, 0.005);
  EXPECT_NEAR(summary->settings[1].time_over_default.value, 1.2, 1e-3);
  EXPECT_NEAR(summary->settings[1].energy_over_default.value, 0.9, 1e-3);
}

TEST(SweepSummary, ScatterIsNotTakenForDrift) {
  const auto summary = summarise({control(10.0, 1000), control(10.1, 1001, 1), control(9.9, 999, 2),
                                  control(10.05, 1000, 3), measured(limit(150), 11, 800)});
  ASSERT_TRUE(summary);
  EXPECT_FALSE(summary->drift[0].time_taken_out);
  EXPECT_NEAR(summary->settings[1].time_over_default.value, 1.1, 0.01);
}

TEST(SweepSummary, StretchesOfAnInterruptedSweepAreBroughtToOneBaseline) {
  const auto summary =
      summarise({control(10, 1000), measured(limit(150), 11, 800), in_session(1, control(20, 2000, 1)),
                 in_session(1, measured(limit(100), 26, 1400))});
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->stretches, 2U);
  EXPECT_NEAR(summary->settings[1].time_over_default.value, 1.1, 1e-12);
  EXPECT_NEAR(summary->settings[2].time_over_default.value, 1.3, 1e-12);
}

TEST(SweepSummary, ASettingWithoutAControlOfItsOwnStretchIsNotUsed) {
  const auto summary = summarise({control(10, 1000), in_session(1, measured(limit(100), 26, 1400))});
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->stretches, 2U) << "one of which is left out";
  EXPECT_EQ(summary->drift.size(), 1U);
  EXPECT_EQ(summary->settings.size(), 1U);
  EXPECT_EQ(summary->lost.size(), 1U);
}

// 90 % intervals of many sweeps with known noise: how often the truth lies inside.
TEST(SweepSummary, NineOfTenIntervalsHoldTheTruth) {
  Random random(11);
  int inside = 0;
  constexpr int kSweeps = 400;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    std::vector<SweepMeasurement> all;
    const auto noisy = [&random](double value) { return value * std::exp(0.01 * random.normal()); };
    for (unsigned i = 0; i < 3; ++i) {
      all.push_back(control(noisy(10), noisy(1000), i));
      all.push_back(measured(limit(150), noisy(11), noisy(800), i));
    }
    const auto summary = summarise(all);
    ASSERT_TRUE(summary);
    const Quotient& energy = summary->settings[1].energy_over_default;
    inside += *energy.low <= 0.8 && 0.8 <= *energy.high ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(inside) / kSweeps, 0.90, 0.04);
}

/// ln of the width of a setting's interval.
double width(const SweptSetting& setting) {
  return std::log(*setting.time_over_default.high / *setting.time_over_default.low);
}

TEST(SweepSummary, ASettingIsAsSureAsTheControlsOfItsOwnStretchMakeIt) {
  std::vector<SweepMeasurement> all;
  for (unsigned i = 0; i < 3; ++i) all.push_back(control(10 + 0.1 * i, 1000, i));
  all.push_back(measured(limit(150), 11, 800));
  all.push_back(in_session(1, control(20, 2000, 3)));
  all.push_back(in_session(1, measured(limit(100), 26, 1400)));
  const auto summary = summarise(all);
  ASSERT_TRUE(summary);
  ASSERT_EQ(summary->settings.size(), 3U);
  EXPECT_NEAR(width(summary->settings[2]) / width(summary->settings[1]),
              std::sqrt((1.0 + 1.0 / 1) / (1.0 + 1.0 / 3)), 1e-9);
}

struct Stretch {
  unsigned controls;
  std::vector<double> limits;  // W
};

/// The share of 90 % intervals of many interrupted sweeps that hold the truth: every stretch has a baseline
/// of its own, every run scatters by 1 %.
double coverage(const std::vector<Stretch>& stretches, std::uint64_t seed) {
  constexpr int kSweeps = 2000;
  Random random(seed);
  int inside = 0;
  int intervals = 0;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    std::vector<SweepMeasurement> all;
    for (unsigned session = 0; session < stretches.size(); ++session) {
      const double baseline = std::exp(0.02 * random.normal());
      const auto noisy = [&](double value) { return baseline * value * std::exp(0.01 * random.normal()); };
      for (unsigned i = 0; i < stretches[session].controls; ++i)
        all.push_back(in_session(session, control(noisy(10), noisy(1000), i)));
      for (const double watts : stretches[session].limits)
        all.push_back(in_session(session, measured(limit(watts), noisy(11), noisy(800))));
    }
    const auto summary = *summarise(all);
    for (const SweptSetting& setting : summary.settings) {
      if (setting.is_default()) continue;
      const Quotient& energy = setting.energy_over_default;
      inside += *energy.low <= 0.8 && 0.8 <= *energy.high ? 1 : 0;
      ++intervals;
    }
  }
  return static_cast<double>(inside) / intervals;
}

TEST(SweepSummary, NineOfTenIntervalsHoldTheTruthInSweepsThatWereInterrupted) {
  EXPECT_NEAR(coverage({{3, {100, 120}}, {3, {140, 160}}}, 12), 0.90, 0.015);
  EXPECT_NEAR(coverage({{3, {100, 120}}, {2, {140, 160}}, {1, {180, 200}}}, 13), 0.90, 0.015);
  EXPECT_NEAR(coverage({{3, {100, 120}}, {1, {140, 160}}}, 14), 0.90, 0.015);
  EXPECT_NEAR(coverage({{3, {100, 120, 140}}, {3, {100, 120}}, {1, {140}}}, 15), 0.90, 0.015)
      << "settings repeated over an interruption";
}

TEST(SweepSummary, OfFewRunsTheSensorsOwnBandIsTheLeastThatEnergyScatters) {
  auto banded = [](SweepMeasurement m) {
    m.energy_band = 0.03;
    return m;
  };
  const auto summary = summarise(
      {banded(control(10, 1000)), banded(measured(limit(150), 11, 800)), banded(control(10, 1000, 1))});
  ASSERT_TRUE(summary);
  EXPECT_NEAR(summary->energy_scatter, 0.03 / std::sqrt(3.0), 1e-9);
}

}  // namespace
}  // namespace rubato::experiment
