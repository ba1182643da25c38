#include "period_truth/sensor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace rubato::period_truth {
namespace {

constexpr double kStepAt = 5;

/// 100 W and no kernel for 5 s, then 200 W and a kernel in 40 % of the time.
Waveform step_up() {
  Waveform wave;
  const auto bins = static_cast<std::size_t>(20 / Waveform::kBin);
  for (std::size_t i = 0; i < bins; ++i) {
    const bool late = static_cast<double>(i) * Waveform::kBin >= kStepAt;
    wave.power_w.push_back(late ? 200 : 100);
    wave.busy.push_back(late && i % 10 < 4 ? 1 : 0);
    wave.memory.push_back(0);
    wave.speed.push_back(1);
  }
  return wave;
}

Sensor exact_sensor(double update_s, double window_s, double lag_s) {
  Sensor sensor;
  sensor.update_s = update_s;
  sensor.window_s = window_s;
  sensor.lag_s = lag_s;
  sensor.grain_w = 0.001;
  return sensor;
}

/// What the sensor shows at its first update from `t` on.
double shown_at(const Sensor& sensor, double t) {
  Random random(1);
  const auto ticks = draw_ticks(sensor, step_up(), random);
  const auto at = std::find_if(ticks.begin(), ticks.end(), [&](const Tick& tick) { return tick.at_s >= t; });
  return at == ticks.end() ? -1 : at->clean_w;
}

TEST(SensorKinds, ShowTheMeanOverTheirWindow) {
  EXPECT_NEAR(shown_at(exact_sensor(0.02, 1, 0), kStepAt + 0.5), 150, 3);
  EXPECT_NEAR(shown_at(exact_sensor(0.02, 1, 0), kStepAt + 1.01), 200, 0.1);
  EXPECT_NEAR(shown_at(exact_sensor(0.02, 0.025, 0), kStepAt + 0.03), 200, 0.1);
  EXPECT_NEAR(shown_at(exact_sensor(0.02, 0, 0), kStepAt + 0.01), 200, 0.1);
}

TEST(SensorKinds, FollowWithTheirLag) {
  const Sensor lagging = exact_sensor(0.02, 0, 0.4);
  EXPECT_NEAR(shown_at(lagging, kStepAt + 0.4), 163, 3);
  EXPECT_NEAR(shown_at(lagging, kStepAt + 4), 200, 0.1);
}

class Readings : public testing::Test {
 protected:
  std::vector<progress::TelemetryPoint> read(const Sensor& sensor, const Reader& reader) {
    Random random(3);
    const auto ticks = draw_ticks(sensor, wave_, random);
    return read_all(sensor, ticks, reader, board_, wave_, random);
  }
  Waveform wave_ = step_up();
  Board board_{50, 400, 0.01, 60, 0, 300, 1500, 15};
};

TEST_F(Readings, CarryTheNoiseOfTheSensorAndItsGrain) {
  Sensor sensor = exact_sensor(0.02, 0, 0);
  sensor.noise_w = 3;
  sensor.grain_w = 1;
  Reader reader;
  reader.interval_s = 0.02;
  double sum = 0;
  std::size_t count = 0;
  for (const auto& point : read(sensor, reader)) {
    const double watts = point.power->value();
    EXPECT_EQ(watts, std::round(watts));
    if (point.at.since_epoch().value() < kStepAt + 1) continue;
    sum += (watts - 200) * (watts - 200);
    ++count;
  }
  ASSERT_GT(count, 500U);
  EXPECT_NEAR(std::sqrt(sum / static_cast<double>(count)), 3, 0.4);
}

TEST_F(Readings, AreLateAndMissedAtTimesAndNeverGoBack) {
  Reader reader;
  reader.very_late = 0.02;
  reader.dropped = 0.05;
  const auto points = read(exact_sensor(0.1, 0.025, 0), reader);
  double longest = 0;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const double gap = (points[i].at - points[i - 1].at).value();
    ASSERT_GT(gap, 0);
    longest = std::max(longest, gap);
  }
  EXPECT_GT(longest, 0.2);
  EXPECT_LT(static_cast<double>(points.size()), 20 / reader.interval_s);
}

TEST_F(Readings, ShowUtilisationInWholePercentOfItsWindow) {
  for (const auto& point : read(exact_sensor(0.1, 0.025, 0), Reader())) {
    const double percent = 100 * *point.sm_utilisation;
    EXPECT_NEAR(percent, std::round(percent), 1e-9);
    const double t = point.at.since_epoch().value();
    if (t < kStepAt) {
      EXPECT_EQ(percent, 0);
    } else if (t > kStepAt + 2) {
      EXPECT_NEAR(percent, 40, 1);
    }
  }
}

TEST_F(Readings, LackTheColumnsThatNobodyReads) {
  Reader reader;
  reader.has_memory = false;
  reader.has_clock = false;
  reader.slow_columns = 3;
  const auto points = read(exact_sensor(0.1, 0.025, 0), reader);
  const auto with =
      std::count_if(points.begin(), points.end(), [](const auto& p) { return p.sm_utilisation; });
  EXPECT_NEAR(static_cast<double>(with) / static_cast<double>(points.size()), 1.0 / 3, 0.02);
  EXPECT_TRUE(std::none_of(points.begin(), points.end(), [](const auto& p) { return p.memory_utilisation; }));
  EXPECT_TRUE(std::none_of(points.begin(), points.end(), [](const auto& p) { return p.sm_clock; }));
}

TEST_F(Readings, ShowClocksInStepsThatFallNearTheLimit) {
  board_.limit_w = 200;
  for (const auto& point : read(exact_sensor(0.1, 0.025, 0), Reader())) {
    const double mhz = point.sm_clock->value();
    EXPECT_EQ(std::fmod(mhz, 15), 0);
    const double t = point.at.since_epoch().value();
    if (t < kStepAt) {
      EXPECT_EQ(mhz, 1500);
    } else if (t > kStepAt + 1) {
      EXPECT_LT(mhz, 1500);
    }
  }
}

}  // namespace
}  // namespace rubato::period_truth
