#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <set>

#include "period_truth/trace.h"
#include "period_truth/training.h"

namespace rubato::period_truth {
namespace {

/// The first seed from `from` on whose trace is of this family.
std::uint64_t seed_of(Family family, std::uint64_t from) {
  while (static_cast<Family>(from % kFamilies) != family) ++from;
  return from;
}

double median_of(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

/// Power held on a grid of 0.1 s, under a Hann window.
std::vector<double> windowed(const Trace& trace) {
  std::vector<double> grid;
  double t = trace.points.front().at.since_epoch().value();
  for (const progress::TelemetryPoint& point : trace.points)
    for (; t <= point.at.since_epoch().value(); t += 0.1) grid.push_back(point.power->value());
  double mean = 0;
  for (const double x : grid) mean += x / static_cast<double>(grid.size());
  for (std::size_t i = 0; i < grid.size(); ++i) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(grid.size());
    grid[i] = (grid[i] - mean) * (1 - std::cos(angle));
  }
  return grid;
}

/// The highest ordinate of the periodogram over the median of its neighbours: under 20 where it is chance.
double highest_line(const Trace& trace) {
  std::vector<double> grid = windowed(trace);
  grid.resize(std::min<std::size_t>(grid.size(), 1200));
  std::vector<double> power;
  for (std::size_t k = 1; k < grid.size() / 2; ++k) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(grid.size());
    const std::complex<double> turn = std::polar(1.0, -angle);
    std::complex<double> now(1, 0);
    std::complex<double> sum;
    for (const double x : grid) {
      sum += x * now;
      now *= turn;
    }
    power.push_back(std::norm(sum));
  }
  double highest = 0;
  // Neighbours by ratio, so that the slope of red noise is no line; the first ordinates have too few of them.
  for (std::size_t k = 16; k < power.size(); ++k) {
    const auto begin = static_cast<std::ptrdiff_t>(k * 2 / 3);
    const auto end = static_cast<std::ptrdiff_t>(std::min(power.size(), k * 3 / 2));
    const std::vector<double> around(power.begin() + begin, power.begin() + end);
    highest = std::max(highest, power[k] / (median_of(around) / std::numbers::ln2));
  }
  return highest;
}

TEST(Generator, GivesTheSameTraceForTheSameSeed) {
  const Trace one = draw_trace(100'007);
  const Trace same = draw_trace(100'007);
  const Trace other = draw_trace(100'007 + 95);
  ASSERT_EQ(one.points.size(), same.points.size());
  EXPECT_EQ(one.points.back().at, same.points.back().at);
  EXPECT_EQ(one.points.back().power, same.points.back().power);
  EXPECT_EQ(one.truth.median_s, same.truth.median_s);
  EXPECT_NE(one.points.size(), other.points.size());
}

TEST(Generator, PairsEachFamilyWithEachSensorOnceIn95) {
  std::set<std::pair<Family, SensorKind>> pairs;
  for (std::uint64_t seed = 100'000; seed < 100'095; ++seed) {
    const Trace trace = draw_trace(seed);
    pairs.emplace(trace.family, trace.sensor.kind);
    EXPECT_EQ(trace.truth.median_s.has_value(), has_iterations(trace.family)) << seed;
    ASSERT_GT(trace.points.size(), 200U) << seed;
    for (std::size_t i = 1; i < trace.points.size(); ++i)
      ASSERT_LT(trace.points[i - 1].at, trace.points[i].at) << seed;
  }
  EXPECT_EQ(pairs.size(), 95U);
}

TEST(Generator, KeepsIterationsInsideTheirFamilysLengths) {
  for (std::uint64_t seed = 100'000; seed < 100'190; ++seed) {
    const Trace trace = draw_trace(seed);
    if (!trace.truth.median_s) continue;
    const double length = *trace.truth.median_s;
    EXPECT_GE(trace.truth.steps, 8U) << seed;
    if (trace.family == Family::brief) {
      EXPECT_LT(length, 0.35) << seed;
    } else if (trace.family == Family::lengthy) {
      EXPECT_GT(length, 4.5) << seed;
    }
    double before = 0;
    for (const Step& step : trace.truth.marks) {
      ASSERT_GE(step.begin_s, before - 1e-9);
      ASSERT_GT(step.seconds(), 0);
      before = step.end_s;
    }
  }
}

TEST(Generator, LeavesStallsAndPausesOutOfTheIteration) {
  Training training;
  training.length_s = 60;
  training.turns = {{{0.4, 0.9, 1, 0.2, 0}, {0.6, 0.3, 1, 0.8, 0}}};
  training.jitter = 0;
  training.piece_jitter = 0;
  training.stall_chance = 0.2;
  training.stall_s = 1;
  training.epoch_steps = 5;
  training.checkpoint_s = 2;
  Random random(5);
  const Program program = write_training(Family::stalls, training, random);
  double lost = 0;
  for (const Step& step : program.steps) {
    EXPECT_NEAR(step.seconds(), 1, 1e-9);
    lost += step.lost_s;
  }
  EXPECT_GT(lost, 1);
  EXPECT_GT(program.end_s, static_cast<double>(program.steps.size()) + lost + 2);
}

TEST(Generator, StretchesAnIterationByItsShareOfComputeWhenTheClockFalls) {
  Training training;
  training.length_s = 40;
  training.turns = {{{1, 0.8, 1, 0.2, 0.5}}};
  training.jitter = 0;
  training.piece_jitter = 0;
  training.speeds = {{0, 1}, {20, 0.5}};
  Random random(5);
  const Program program = write_training(Family::clock_change, training, random);
  EXPECT_NEAR(program.steps.front().seconds(), 1, 1e-9);
  EXPECT_NEAR(program.steps.back().seconds(), 1.5, 1e-9);
  EXPECT_LT(program.stretches.back().level, program.stretches.front().level);
}

/// A square wave of 1 s, 100 W high, on an ideal sensor of 50 Hz.
std::vector<Tick> square_ticks(const Sensor& sensor, double height_w) {
  std::vector<Tick> ticks;
  for (double t = 0.003; t < 30; t += sensor.update_s)
    ticks.push_back({t, 200 + (t - std::floor(t) < 0.4 ? height_w : 0)});
  return ticks;
}

Program steady_program() {
  Program program;
  for (int i = 0; i < 30; ++i) program.steps.push_back({1.0 * i, 1.0 * (i + 1), 0});
  return program;
}

TEST(ObservableRange, HoldsALoudIterationAndNotOneBelowTheNoise) {
  Sensor sensor;
  sensor.update_s = 0.02;
  sensor.noise_w = 2;
  const Program program = steady_program();
  EXPECT_TRUE(truth_of(program, sensor, square_ticks(sensor, 100), 0.02).observable);
  EXPECT_FALSE(truth_of(program, sensor, square_ticks(sensor, 0.5), 0.02).observable);
  EXPECT_FALSE(truth_of(program, sensor, square_ticks(sensor, 100), 0.4).observable) << "read too rarely";
}

TEST(ObservableRange, IsOfTheWholeIterationAndNotOfItsParts) {
  Sensor sensor;
  sensor.update_s = 0.02;
  sensor.noise_w = 2;
  Program program;
  for (int i = 0; i < 15; ++i) program.steps.push_back({2.0 * i, 2.0 * (i + 1), 0});
  program.parts = 2;
  // Two equal halves: nothing says that they are two.
  const Truth truth = truth_of(program, sensor, square_ticks(sensor, 100), 0.02);
  EXPECT_FALSE(truth.observable);
  EXPECT_EQ(truth.parts, 2);
}

TEST(ObservableRange, WantsAMedianThatIsOneNumber) {
  Sensor sensor;
  sensor.update_s = 0.02;
  sensor.noise_w = 2;
  Program program = steady_program();
  double t = 0;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const double length = i < 15 ? 1.0 : 1.4;  // half at one clock, half at another
    program.steps[i] = {t, t + length, 0};
    t += length;
  }
  const Truth truth = truth_of(program, sensor, square_ticks(sensor, 100), 0.02);
  EXPECT_FALSE(truth.observable);
  EXPECT_NEAR(truth.medians_s[0], 1, 1e-9);
  EXPECT_NEAR(truth.medians_s[1], 1.4, 1e-9);
}

TEST(ObservableRange, HoldsEnoughTracesToJudgeBy) {
  std::size_t observable = 0;
  std::size_t periodic = 0;
  for (std::uint64_t seed = 110'000; seed < 110'380; ++seed) {
    const Trace trace = draw_trace(seed);
    periodic += trace.truth.median_s.has_value();
    observable += trace.truth.observable;
  }
  EXPECT_GT(observable, periodic / 2);
  EXPECT_LT(observable, periodic);
}

TEST(Families, WithoutIterationsHaveNoLineInTheirSpectrum) {
  for (const Family family :
       {Family::flat, Family::bursts, Family::inference, Family::wander, Family::reinforcement}) {
    std::vector<double> lines;
    for (std::uint64_t i = 0; i < 15; ++i) {
      const Trace trace = draw_trace(seed_of(family, 120'000 + 19 * i));
      // Between the zeros of a long mean's own response its lobes stand like lines.
      if (trace.sensor.kind != SensorKind::long_mean) lines.push_back(highest_line(trace));
    }
    ASSERT_GT(lines.size(), 10U);
    EXPECT_LT(median_of(lines), 10) << name_of(family);
    EXPECT_LT(*std::max_element(lines.begin(), lines.end()), 20) << name_of(family);
  }
}

TEST(Families, WithIterationsHaveOne) {
  for (const Family family : {Family::plain, Family::micro_batches, Family::background, Family::pair}) {
    std::vector<double> lines;
    for (std::uint64_t i = 0; i < 12; ++i) {
      const Trace trace = draw_trace(seed_of(family, 120'000 + 19 * i));
      if (trace.truth.observable) lines.push_back(highest_line(trace));
    }
    ASSERT_GT(lines.size(), 3U) << name_of(family);
    EXPECT_GT(median_of(lines), 60) << name_of(family);
  }
}

}  // namespace
}  // namespace rubato::period_truth
