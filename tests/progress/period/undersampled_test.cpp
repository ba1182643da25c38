#include "progress/period/undersampled.h"

#include <gtest/gtest.h>

#include <numbers>

#include "progress/period/period_detector.h"
#include "progress/period/wave.h"

namespace rubato::progress {
namespace {

/// A board that shows the last 25 ms of each 100 ms, read every 20 ms.
std::vector<TelemetryPoint> shown(double seconds, const std::function<double(double)>& watts) {
  Random random(4);
  std::vector<double> updates;
  for (int i = 0; i * 0.1 < seconds; ++i) {
    double sum = 0;
    for (int k = 0; k < 25; ++k) sum += watts(0.1 * i + 0.001 * k) / 25;
    updates.push_back(sum + random.normal());
  }
  std::vector<TelemetryPoint> out;
  for (int i = 0; 0.02 * i + 0.01 < seconds; ++i) {
    TelemetryPoint point;
    const double at = 0.02 * i + 0.01 + 0.002 * random.uniform();
    point.at = TimePoint{} + Seconds(at);
    point.power = Watts(updates[static_cast<std::size_t>(at * 10)]);
    out.push_back(point);
  }
  return out;
}

Updates wave_of(double period_updates, double harmonic = 0) {
  Updates out{0.1, {}};
  for (int i = 0; i < 500; ++i) {
    const double phase = 2 * std::numbers::pi * i / period_updates;
    out.value.push_back(std::cos(phase) + harmonic * std::cos(2 * phase + 1));
  }
  return out;
}

IterationEstimate told(double period_s, const TelemetryFacts& facts = {}) {
  auto detector = make_period_detector(facts);
  for (const auto& point : shown(60, [&](double t) { return three_levels(t, period_s); }))
    detector->add(point);
  return detector->summary().verdict.value_or(IterationEstimate{});
}

TEST(Undersampled, ReadingsAreCountedByTheUpdatesTheyShow) {
  const Samples samples = samples_of(shown(30, [](double t) { return three_levels(t, 0.77); }));
  const Updates updates = updates_of(samples.column(Column::power), 0, 30, 0.08);
  EXPECT_NEAR(updates.update_s, 0.1, 0.001);
  EXPECT_NEAR(static_cast<double>(updates.value.size()), 300, 2);
}

TEST(Undersampled, TheShortestFoldIsPreferredToItsMultiples) {
  // Five periods of 2.4 updates are twelve updates, and repeat as well.
  const auto fold = UpdateSpectrum(wave_of(2.41, 0.5)).smoothest_fold(60);
  ASSERT_TRUE(fold.has_value());
  EXPECT_NEAR(fold->updates, 2.41, 0.02);
  EXPECT_GT(fold->explained, 0.6);
}

TEST(Undersampled, APeriodBelowTwoUpdatesShowsAsItsAlias) {
  // 1.7 updates: 1 / (1 - 1 / 1.7) of them from one like phase to the next.
  const auto fold = UpdateSpectrum(wave_of(1.7, 0.3)).smoothest_fold(60);
  ASSERT_TRUE(fold.has_value());
  EXPECT_NEAR(fold->updates, 1 / (1 - 1 / 1.7), 0.03);
}

TEST(Undersampled, NoiseHasNoFold) {
  Random random(3);
  Updates updates{0.1, {}};
  for (int i = 0; i < 500; ++i) updates.value.push_back(random.normal());
  const auto fold = UpdateSpectrum(updates).smoothest_fold(60);
  EXPECT_LT(fold ? fold->explained : 0.0, 0.3);
}

TEST(Undersampled, TooFewUpdatesSayNothing) {
  EXPECT_FALSE(UpdateSpectrum(Updates{0.1, std::vector<double>(20, 1.0)}).smoothest_fold(60).has_value());
  EXPECT_FALSE(UpdateSpectrum(Updates{}).smoothest_fold(60).has_value());
}

TEST(Undersampled, WhatHappensOnceInALongIterationRepeatsInTheRest) {
  Updates updates = wave_of(2.41);
  for (std::size_t i = 0; i < updates.value.size(); ++i)
    if (std::fmod(static_cast<double>(i), 31.33) < 3) updates.value[i] -= 2;
  const UpdateSpectrum spectrum(updates);
  const auto longer = spectrum.rest_repeats_after(Fold{2.41, 1});
  ASSERT_TRUE(longer.has_value());
  EXPECT_NEAR(*longer, 31.33, 0.4);
  EXPECT_FALSE(UpdateSpectrum(wave_of(2.41)).rest_repeats_after(Fold{2.41, 1}).has_value());
}

TEST(Undersampled, AnIterationOfTwoAndAHalfUpdatesIsNotToldAsItsMultiple) {
  const auto said = told(0.2437);
  ASSERT_TRUE(said.periodic);
  EXPECT_NE(said.relation, PeriodRelation::exact);
  EXPECT_NEAR(said.period->value(), 0.2437, 0.005);
  EXPECT_LE(said.confidence, 0.9);
}

TEST(Undersampled, AnIterationFasterThanTheSensorIsToldAsABeatOrAMultiple) {
  TelemetryFacts facts;
  facts.averaging_window = Seconds(0.025);
  for (const double period : {0.1755, 0.1695, 0.24}) {
    const auto said = told(period, facts);
    ASSERT_TRUE(said.periodic) << period;
    ASSERT_NE(said.relation, PeriodRelation::exact) << period << " told as " << said.period->value();
    const double times = said.period->value() / period;
    const double alias = 1 / std::abs(1 / period - 10 * std::round(0.1 / period));
    const bool fits = said.relation == PeriodRelation::beat
                          ? std::abs(said.period->value() / alias - 1) < 0.02
                          : std::abs(times - std::round(times)) < 0.1;
    EXPECT_TRUE(fits) << period << " told as " << said.period->value();
  }
}

TEST(Undersampled, WhereTheWindowIsNotKnownAWholeNumberOfUpdatesIsNoSureIteration) {
  const auto said = told(0.1755);
  EXPECT_TRUE(said.relation == PeriodRelation::multiple || said.confidence < 0.8);
}

TEST(Undersampled, ASmoothFoldOfAShortWindowIsNotTakenForTheIteration) {
  TelemetryFacts facts;
  facts.update_period = Seconds(0.1);
  facts.averaging_window = Seconds(0.025);
  const auto said = told(0.0817, facts);
  ASSERT_TRUE(said.periodic);
  EXPECT_NE(said.relation, PeriodRelation::exact) << said.period->value();
}

TEST(Undersampled, AnIterationOfSeveralUpdatesStaysExact) {
  TelemetryFacts facts;
  facts.averaging_window = Seconds(0.025);
  for (const double period : {0.437, 0.73, 1.31, 2.9}) {
    const auto said = told(period, facts);
    ASSERT_TRUE(said.periodic) << period;
    EXPECT_EQ(said.relation, PeriodRelation::exact) << period;
    EXPECT_NEAR(said.period->value() / period, 1, 0.02);
  }
}

}  // namespace
}  // namespace rubato::progress
