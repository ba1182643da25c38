#include "core/beat.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.h"
#include "measure/energy_meter.h"

namespace rubato::measure {
namespace {

const SensorSight kQuarter{100_ms, 25_ms, {}};

StepTime every(double seconds, double spread = 0) {
  return {Seconds(seconds), Seconds(seconds * spread)};
}

// Two levels, 0 and 1, high for `duty` of each step: their mean over [begin, end] within one run of steps.
double high_until(const std::vector<double>& begins, double step_s, double duty, double t) {
  double sum = 0;
  for (const double begin : begins) {
    if (begin >= t) break;
    sum += std::min(t - begin, duty * step_s);
  }
  return sum;
}

// What beat_bias() says by formula, by drawing: the error of the looks' mean over the power's standard
// deviation, root mean square over duty cycles and phases.
double drawn_bias(double step_s, double spread, double length_s) {
  Random random(7);
  double squares = 0;
  double variances = 0;
  for (int run = 0; run < 150; ++run) {
    const double duty = random.uniform();
    std::vector<double> begins{-random.uniform() * step_s};
    while (begins.back() < length_s)
      begins.push_back(begins.back() + step_s * std::max(0.1, 1 + spread * random.normal()));
    double seen = 0;
    double looks = 0;
    for (double end = 0.025 + 0.075 * random.uniform(); end < length_s; end += 0.1, ++looks)
      seen += (high_until(begins, step_s, duty, end) - high_until(begins, step_s, duty, end - 0.025)) / 0.025;
    const double truth = high_until(begins, step_s, duty, length_s) - high_until(begins, step_s, duty, 0);
    squares += std::pow(seen / looks - truth / length_s, 2);
    variances += duty * (1 - duty);
  }
  return std::sqrt(squares / variances);
}

TEST(Beat, ASensorThatSeesEverythingHasNone) {
  EXPECT_EQ(beat_bias(every(0.1), {100_ms, 100_ms, {}}, 10_s, 0.01), 0);
  EXPECT_EQ(beat_bias(every(0.1), {100_ms, 1_s, {}}, 10_s, 0.01), 0);
  EXPECT_FALSE(find_beat(every(0.1), {100_ms, 100_ms, {}}, 10_s, 0.01));
}

TEST(Beat, InStepWithTheSensorNoLengthHelps) {
  const double brief = beat_bias(every(0.1), kQuarter, 5_s, 0);
  EXPECT_GT(brief, 0.5);
  EXPECT_NEAR(beat_bias(every(0.1), kQuarter, 500_s, 0), brief, 1e-6);
  EXPECT_FALSE(length_for(every(0.1), kQuarter, 0.1, 0));
}

TEST(Beat, OutOfStepTheBiasFallsWithTheLength) {
  const StepTime golden = every(0.1618);
  const double brief = beat_bias(golden, kQuarter, 5_s, 0);
  EXPECT_LT(brief, 0.1);
  EXPECT_LT(beat_bias(golden, kQuarter, 500_s, 0), 0.1 * brief);
  EXPECT_FALSE(find_beat(golden, kQuarter, 10_s, 0));
}

TEST(Beat, IterationsThatVaryFallOutOfStep) {
  const double locked = beat_bias(every(0.1), kQuarter, 300_s, 0);
  const double walking = beat_bias(every(0.1, 0.05), kQuarter, 300_s, 0);
  EXPECT_LT(walking, 0.3 * locked);
  ASSERT_TRUE(length_for(every(0.1, 0.05), kQuarter, 0.1, 0));
  EXPECT_GT(*length_for(every(0.1, 0.05), kQuarter, 0.1, 0), 30_s);
}

TEST(Beat, ADoubtAboutThePeriodCountsAsTheWorstPeriodWithinIt) {
  EXPECT_LT(beat_bias(every(0.1002), kQuarter, 300_s, 0), 0.1);
  EXPECT_NEAR(beat_bias(every(0.1002), kQuarter, 300_s, 0.005), beat_bias(every(0.1), kQuarter, 300_s, 0.005),
              0.01);
}

TEST(Beat, ItIsNamedByItsRatio) {
  const auto beat = find_beat(every(0.15), kQuarter, 60_s, 0);
  ASSERT_TRUE(beat);
  EXPECT_EQ(beat->looks, 3U);
  EXPECT_EQ(beat->steps, 2U);
  EXPECT_GT(beat->bias, 0.1);
}

TEST(Beat, TheFormulaIsWhatDrawingGives) {
  for (const double step : {0.1, 0.1003, 0.15, 0.2, 0.0501, 0.333, 0.171})
    for (const double spread : {0.0, 0.02}) {
      const double drawn = drawn_bias(step, spread, 10);
      EXPECT_NEAR(beat_bias(every(step, spread), kQuarter, 10_s, 0), drawn, 0.3 * drawn + 0.005)
          << step << " s, spread " << spread;
    }
}

// 300 W for the first half of each 100 ms, 100 W for the second; a sensor that looks at 25 ms of the first
// half tells 300 W for ever.
class InStep : public testing::Test {
 protected:
  static EnergyMeter fed(std::optional<StepTime> step) {
    EnergyMeter meter({.update_period = 100_ms,
                       .averaging_window = 25_ms,
                       .counter_period = std::nullopt,
                       .gain = std::nullopt,
                       .offset = std::nullopt,
                       .calibrated_by = {},
                       .source = "test"},
                      Kind::measured, "GPU 0");
    if (step) meter.learn_step(step->mean, step->spread);
    for (int i = 0; i <= 300; ++i)
      meter.add({TimePoint{} + Seconds(0.1 * i), 300_W, std::nullopt, std::nullopt, std::nullopt,
                 std::nullopt, std::nullopt});
    return meter;
  }
  static EnergyMeter with_counter(bool sees_all) {
    EnergyMeter meter({.update_period = 100_ms,
                       .averaging_window = 25_ms,
                       .counter_period = 100_ms,
                       .counter_sees_all = sees_all,
                       .source = "test"},
                      Kind::measured, "GPU 0");
    meter.learn_step(100_ms, Seconds(0));
    return meter;
  }
  static WindowDetail ten_seconds(const EnergyMeter& meter) {
    return meter.inspect(TimePoint{} + 5_s, TimePoint{} + 15_s).value();
  }
  static constexpr Joules kTruth{2000};
};

TEST_F(InStep, ABandThatKnowsNoIterationsMissesTheTruth) {
  const WindowDetail naive = ten_seconds(fed(std::nullopt));
  EXPECT_GT(abs(naive.window.energy - kTruth), naive.window.band_sampling);
  EXPECT_FALSE(naive.beat);
}

TEST_F(InStep, ABandThatKnowsThemHoldsItAndSaysWhy) {
  const WindowDetail told = ten_seconds(fed(StepTime{100_ms, Seconds(0)}));
  EXPECT_LE(abs(told.window.energy - kTruth), told.window.band_sampling);
  ASSERT_TRUE(told.beat);
  EXPECT_NE(told.window.source.quality.find("beat with the sensor"), std::string::npos);
}

TEST_F(InStep, ACounterThatSeesEverythingIsBelieved) {
  EnergyMeter meter = with_counter(true);
  for (int i = 0; i <= 300; ++i)
    meter.add({.at = TimePoint{} + Seconds(0.1 * i), .power = 300_W, .energy_counter = Joules(20.0 * i)});
  const WindowDetail told = ten_seconds(meter);
  EXPECT_NEAR(told.window.energy.value(), kTruth.value(), 1e-6);
  EXPECT_LT(told.window.band_sampling, 0.03 * kTruth);
  EXPECT_FALSE(told.beat);
  EXPECT_EQ(told.window.source.quality.find("beat with the sensor"), std::string::npos);
}

// Power is integrated in its place, and power misses what the sensor does not see.
TEST_F(InStep, ACounterThatSeesEverythingAndStoppedIsNot) {
  const auto band = [](bool sees_all) {
    EnergyMeter meter = with_counter(sees_all);
    for (int i = 0; i <= 600; ++i)
      meter.add({.at = TimePoint{} + Seconds(0.1 * i),
                 .power = 300_W,
                 .energy_counter = Joules(20.0 * (i < 100   ? i
                                                  : i < 500 ? 100
                                                            : i - 400))});
    return meter.inspect(TimePoint{} + 5_s, TimePoint{} + 55_s).value().window.band_sampling;
  };
  EXPECT_EQ(band(true), band(false));
}

TEST_F(InStep, IterationsOfAnotherLengthNeedNoWiderBand) {
  const WindowDetail told = ten_seconds(fed(StepTime{Seconds(0.1618), Seconds(0.002)}));
  EXPECT_LT(told.window.band_sampling, 0.03 * told.window.energy);
  EXPECT_FALSE(told.beat);
}

}  // namespace
}  // namespace rubato::measure
