#include "period_truth/observer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace rubato::period_truth {
namespace {

constexpr double kPeriod = 2;
constexpr double kUpdate = 0.1;

/// A minute of iterations of 2 s, whose power swings by so many watts; half of each swing repeats after 1 s.
Trace trace_with(double swing_w, double noise_w) {
  Trace trace;
  trace.sensor.update_s = kUpdate;
  trace.sensor.noise_w = noise_w;
  trace.truth.median_s = kPeriod;
  trace.truth.update_s = kUpdate;
  trace.truth.reading_s = kUpdate;
  for (int i = 0; i < 30; ++i) trace.truth.marks.push_back({kPeriod * i, kPeriod * (i + 1), 0});
  Random random(7);
  for (int i = 0; i < 600; ++i) {
    const double at = kUpdate * (i + 0.5);
    const double phase = std::fmod(at, kPeriod) / kPeriod;
    const double wave = (phase < 0.3 ? 1.0 : 0.0) + (std::fmod(phase, 0.5) < 0.2 ? 1.0 : 0.0);
    progress::TelemetryPoint point;
    point.at = TimePoint{} + Seconds(at);
    point.power = Watts(200 + 0.5 * swing_w * wave + noise_w * random.normal());
    trace.points.push_back(point);
  }
  return trace;
}

TEST(Observer, ChoosesTheTruthWhereTheReadingsShowIt) {
  const Trace trace = trace_with(40, 3);
  for (const double stated :
       {kPeriod / 2, kPeriod / 3, 2 * kPeriod, 3 * kPeriod, 1.04 * kPeriod, 0.77 * kPeriod})
    EXPECT_GT(log_likelihood_ratio(trace, stated), 5) << stated;
  EXPECT_GT(log_likelihood_ratio(trace, std::nullopt), 10);
}

TEST(Observer, IsNotSwayedByAMultipleThatFitsAsWell) {
  // Twice the period has a wave of its own for each half: learning both costs more than it gives.
  EXPECT_GT(log_likelihood_ratio(trace_with(40, 3), 2 * kPeriod), 0);
}

TEST(Observer, IsNotSureOfWhatNoiseHides) {
  const Trace trace = trace_with(0.05, 5);
  EXPECT_LT(log_likelihood_ratio(trace, std::nullopt), 3);
  EXPECT_LT(log_likelihood_ratio(trace, kPeriod / 2), 3);
}

TEST(Observer, SaysNothingOfAProgramWithoutIterations) {
  Trace trace = trace_with(40, 3);
  trace.truth = {};
  EXPECT_EQ(log_likelihood_ratio(trace, 1.0), 0);
}

}  // namespace
}  // namespace rubato::period_truth
