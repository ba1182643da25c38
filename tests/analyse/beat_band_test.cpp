// The band of a stretch cut from the record, against the band that the run's own meter gave it.
#include "analyse/beat_band.h"

#include <gtest/gtest.h>

#include <cmath>

#include "analyse/energy_curve.h"
#include "base/random.h"
#include "made_run.h"
#include "measure/energy_meter.h"

namespace rubato::analyse {
namespace {

using namespace testing_data;

constexpr Seconds kLength{120};

// A sensor that sees 25 of each 100 ms, as the A100's.
SensorFacts part_time() {
  SensorFacts facts;
  facts.update_period = 100_ms;
  facts.averaging_window = 25_ms;
  facts.calibration_band = 0.05;
  return facts;
}

struct Case {
  Seconds step;
  double spread = 0;  // of a step, as a fraction
  bool counter = false;
};

/// Steps of two levels, 300 W in their first half and 100 W after, and what the sensor tells of them.
struct Job {
  explicit Job(const Case& c) {
    Random random(11);
    for (TimePoint at = kBegin; at < kBegin + kLength;) {
      const Seconds took = c.step * std::max(0.1, 1 + c.spread * random.normal());
      iterations.push_back({static_cast<std::int64_t>(iterations.size()), at, at + took});
      at = at + took;
    }
    double joules = 0;
    for (int look = 0; look <= 1200; ++look) {
      const TimePoint at = kBegin + Seconds(0.1 * look);
      const double watts = mean_power(at - 25_ms, at) + 0.01 * look / 1200.0;
      if (look > 0) joules += watts * 0.1;
      readings.push_back({at, Watts(watts), c.counter ? std::optional(Joules(joules)) : std::nullopt});
    }
  }

  [[nodiscard]] double mean_power(TimePoint from, TimePoint to) const {
    double high = 0;
    for (const Iteration& i : iterations) {
      if (i.begin >= to) break;
      const TimePoint half = i.begin + 0.5 * i.duration();
      high += std::max(0.0, (std::min(to, half) - std::max(from, i.begin)).value());
    }
    return 100 + 200 * high / (to - from).value();
  }

  [[nodiscard]] double band_of_curve(TimePoint from, TimePoint to, bool with_steps = true) const {
    const EnergyCurve curve({&readings, &FastReading::power, &FastReading::energy_counter}, sensor, false,
                            with_steps ? std::make_shared<const StepTimes>(iterations) : nullptr);
    return curve.between(from, to).value().band_sampling.value();
  }

  [[nodiscard]] double band_of_meter(TimePoint from, TimePoint to) const {
    measure::EnergyMeter meter(sensor, Kind::measured, "GPU 0");
    const StepTime step = StepTimes(iterations).before(to).value();
    meter.learn_step(step.mean, step.spread);
    for (const FastReading& reading : readings) static_cast<void>(meter.add(reading));
    return meter.window(from, to).value().band_sampling.value();
  }

  SensorFacts sensor = part_time();
  std::vector<Iteration> iterations;
  std::vector<FastReading> readings;
};

TEST(BeatBand, InStepWithTheSensorAgreesWithTheRunsOwnMeter) {
  for (const bool counter : {false, true}) {
    const Job job({.step = 0.4_s, .spread = 0.0005, .counter = counter});
    for (const auto& [from, to] : {std::pair{1_s, 119_s}, std::pair{20_s, 50_s}, std::pair{60_s, 90_s}}) {
      const double meter = job.band_of_meter(kBegin + from, kBegin + to);
      const double curve = job.band_of_curve(kBegin + from, kBegin + to);
      EXPECT_NEAR(curve / meter, 1, 0.1) << counter << " from " << from.value() << " s";
      EXPECT_GT(curve, 3 * job.band_of_curve(kBegin + from, kBegin + to, false))
          << "without the steps the beat goes unseen";
    }
  }
}

TEST(BeatBand, OfACounterIsThatOfTheRunsOwnMeterOutOfStepToo) {
  const Job job({.step = 0.437_s, .spread = 0.05, .counter = true});
  const double meter = job.band_of_meter(kBegin + 1_s, kBegin + 119_s);
  EXPECT_NEAR(job.band_of_curve(kBegin + 1_s, kBegin + 119_s) / meter, 1, 0.1);
}

// As an H200's, whose power readings see a third of the time (docs/evidence/2026-11-28-h200.md).
TEST(BeatBand, ACounterThatWasMeasuredToSeeEverythingMissesNothing) {
  for (const Seconds step : {0.4_s, 0.437_s}) {
    Job job({.step = step, .spread = 0.0005, .counter = true});
    const auto meter = [&] { return job.band_of_meter(kBegin + 1_s, kBegin + 119_s); };
    const auto curve = [&] { return job.band_of_curve(kBegin + 1_s, kBegin + 119_s); };
    const double blind_meter = meter();
    const double blind_curve = curve();
    job.sensor.counter_sees_all = true;
    EXPECT_LT(meter(), 0.7 * blind_meter) << step.value();
    EXPECT_LT(curve(), 0.7 * blind_curve) << step.value();
    EXPECT_NEAR(curve() / meter(), 1, 0.5) << step.value();
  }
}

TEST(BeatBand, OutOfStepAddsLittle) {
  const Job job({.step = 0.437_s, .spread = 0.05});
  const double with = job.band_of_curve(kBegin + 1_s, kBegin + 119_s);
  const double without = job.band_of_curve(kBegin + 1_s, kBegin + 119_s, false);
  EXPECT_GE(with, without);
  EXPECT_LT(with, 2 * without);
}

TEST(BeatBand, OfASensorThatSeesAllOfTheTimeIsNothing) {
  const Job job({.step = 0.4_s});
  SensorFacts all = part_time();
  all.averaging_window = 100_ms;
  const BeatBand band({&job.readings}, all, std::make_shared<const StepTimes>(job.iterations));
  EXPECT_EQ(band.of_beat(kBegin, kBegin + 100_s), 0_J);
  EXPECT_EQ(band.of_looks(kBegin, kBegin + 100_s), 0_J);
}

TEST(BeatBand, BeforeStepsAreKnownIsNothing) {
  const Job job({.step = 0.4_s});
  const BeatBand band({&job.readings}, part_time(), std::make_shared<const StepTimes>(job.iterations));
  EXPECT_EQ(band.of_beat(kBegin, kBegin + 3_s), 0_J) << "seven steps are over by then";
  EXPECT_GT(band.of_beat(kBegin, kBegin + 4_s), 0_J);
}

TEST(StepTimes, AreOfTheLatestThatWereOverWithoutPauses) {
  std::vector<Iteration> iterations;
  TimePoint at = kBegin;
  const auto add = [&](int times, Seconds each) {
    for (int i = 0; i < times; ++i, at = at + each) iterations.push_back({i, at, at + each});
  };
  add(100, 1_s);
  add(1, 60_s);
  add(64, 2_s);
  const StepTimes steps(iterations);
  EXPECT_FALSE(steps.before(kBegin + 7_s));
  EXPECT_EQ(steps.before(kBegin + 160_s)->mean, 1_s) << "the pause is no step";
  EXPECT_EQ(steps.before(kBegin + 160_s)->spread, 0_s);
  EXPECT_EQ(steps.before(at)->mean, 2_s);
}

}  // namespace
}  // namespace rubato::analyse
