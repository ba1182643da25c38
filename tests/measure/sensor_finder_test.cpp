#include "measure/sensor_finder.h"

#include <gmock/gmock.h>

#include <vector>

#include "test_sensor.h"

namespace rubato::measure {
namespace {

using namespace testing_sensor;

constexpr int kSeeds = 16;
constexpr double kLength = 120;

struct Looked {
  SensorFindings found;
  std::size_t fast_reads = 0;  // at the burst's pace
};

Looked look(const SensorKind& kind, std::uint64_t seed, const SensorFacts& known = {}, double drift = 0.2,
            double jitter = 0.01) {
  const Job job(kLength, seed, drift, jitter);
  Sensor sensor(kind, job, seed + 1000);
  SensorFinder finder(known);
  Random late(seed + 2000);
  Looked looked;
  const double usual = known.update_period.value_or(Seconds(0.1)).value();
  for (double t = 0.1; t < kLength;) {
    finder.add(sensor.read(t));
    const auto pace = finder.wanted_pace();
    looked.fast_reads += pace ? 1 : 0;
    t += pace.value_or(Seconds(usual)).value() + 2e-4 * late.uniform();  // no timer is exact
  }
  looked.found = finder.found();
  return looked;
}

struct Tally {
  int right = 0;
  int unknown = 0;
  int wrong = 0;
};

void judge(Tally& tally, const std::optional<Seconds>& found, double truth, double within) {
  if (!found)
    ++tally.unknown;
  else if (std::abs(found->value() - truth) <= within * truth)
    ++tally.right;
  else
    ++tally.wrong;
}

// Published kinds (Yang, Adamek, Armour, arXiv 2312.02741), and others that nobody has seen.
const std::vector<SensorKind> kKinds = {
    {.name = "K40", .period_s = 0.015, .lag_s = 0.09, .counter_period_s = 0},
    {.name = "K80", .period_s = 0.1, .lag_s = 0.2, .counter_period_s = 0},
    {.name = "V100", .period_s = 0.02, .window_s = 0.01},
    {.name = "Turing", .period_s = 0.1, .window_s = 0.1},
    {.name = "A100", .period_s = 0.1, .window_s = 0.025},
    {.name = "GA10xAverage", .period_s = 0.1, .window_s = 1.0},
    {.name = "FastCounter", .period_s = 0.101, .window_s = 0.02, .counter_period_s = 0.01},
    {.name = "Odd", .period_s = 0.037, .window_s = 0.037, .counter_period_s = 0.05},
    {.name = "Slow", .period_s = 0.25, .window_s = 0.25, .counter_period_s = 0.25},
    {.name = "HalfASecond", .period_s = 0.1, .window_s = 0.5},
    {.name = "LongMean", .period_s = 0.05, .window_s = 1.7, .counter_period_s = 0.02},
    {.name = "LagWithCounter", .period_s = 0.1, .lag_s = 0.3},
};

class SensorKinds : public testing::TestWithParam<SensorKind> {};

TEST_P(SensorKinds, AreFoundRightOrLeftUnknown) {
  const SensorKind kind = GetParam();
  const bool tellable = kind.lag_s == 0 && kind.window_s >= 0.45;
  Tally power;
  Tally counter;
  Tally window;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Looked looked = look(kind, seed);
    judge(power, looked.found.update_period, kind.period_s, 0.05);
    judge(counter, looked.found.counter_period, kind.counter_period_s, 0.05);
    judge(window, looked.found.averaging_window, kind.window_s, tellable ? 0.15 : 0.0);
    EXPECT_LE(looked.fast_reads, 3U * 201);
  }
  EXPECT_EQ(power.wrong, 0);
  EXPECT_EQ(counter.wrong, 0);
  EXPECT_EQ(window.wrong, 0) << "a lag or a short window is no long mean";
  EXPECT_GE(power.right, kSeeds * 3 / 4) << "a sensor with noise can be told";
  EXPECT_GE(window.right, tellable ? kSeeds / 2 : 0);
}

INSTANTIATE_TEST_SUITE_P(SensorFinder, SensorKinds, testing::ValuesIn(kKinds),
                         [](const auto& named) { return named.param.name; });

TEST(SensorFinder, TheLevelsOfAJobAreNoRefreshes) {
  for (const double period : {0.02, 0.1}) {
    const SensorKind exact{.period_s = period, .window_s = period / 2, .noise_w = 0};
    for (const double drift : {0.0, 0.001, 0.02}) {
      Tally power;
      for (std::uint64_t seed = 1; seed <= kSeeds; ++seed)
        judge(power, look(exact, seed, {}, drift, 0.0).found.update_period, period, 0.05);
      EXPECT_EQ(power.wrong, 0) << period << " s, drift " << drift;
    }
  }
}

TEST(SensorFinder, ACoarseReadingIsUnknownRatherThanWrong) {
  Tally power;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed)
    judge(power, look({.period_s = 0.02, .window_s = 0.02, .grain_w = 1.0}, seed).found.update_period, 0.02,
          0.05);
  EXPECT_EQ(power.wrong, 0);
}

TEST(SensorFinder, WhatIsKnownAndTrueCostsNoExtraRead) {
  const SensorFacts known{.update_period = 100_ms, .averaging_window = 1_s, .counter_period = 100_ms};
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Looked looked = look({.period_s = 0.1, .window_s = 1.0}, seed, known);
    EXPECT_EQ(looked.fast_reads, 0U) << seed;
    EXPECT_FALSE(looked.found.update_period) << seed;
    EXPECT_FALSE(looked.found.averaging_window) << seed;
  }
}

TEST(SensorFinder, ATableThatIsWrongIsCorrected) {
  const SensorFacts known{.update_period = 20_ms, .averaging_window = 10_ms, .counter_period = 100_ms};
  Tally power;
  Tally window;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Looked looked = look({.period_s = 0.1, .window_s = 0.6}, seed, known);
    judge(power, looked.found.update_period, 0.1, 0.05);
    judge(window, looked.found.averaging_window, 0.6, 0.15);
  }
  EXPECT_EQ(power.wrong, 0);
  EXPECT_GE(power.right, kSeeds * 3 / 4);
  EXPECT_EQ(window.wrong, 0);
}

TEST(SensorFinder, AnIdleGpuTellsNothingAndCostsOneBurst) {
  SensorFinder finder(SensorFacts{});
  std::size_t fast = 0;
  for (double t = 0; t < 30;) {
    finder.add({.at = TimePoint{} + Seconds(t),
                .power = 40_W,
                .energy_counter = Joules(40 * std::floor(t / 0.1) * 0.1)});
    fast += finder.wanted_pace() ? 1 : 0;
    t += finder.wanted_pace().value_or(100_ms).value();
  }
  EXPECT_FALSE(finder.found().update_period);
  EXPECT_FALSE(finder.found().averaging_window);
  EXPECT_LE(fast, 201U);
}

// As an H200 without work: a few values a third of a watt apart, for as long as a training loads its
// libraries and its data. No burst is left for the training if these are spent.
TEST(SensorFinder, TheBurstsAreKeptForTheLoad) {
  constexpr double kIdle = 60;
  Tally power;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Job job(kLength, seed);
    Sensor sensor({}, job, seed + 1000);
    SensorFinder finder(SensorFacts{});
    Random idle(seed + 2000);
    double shown = 78.2;
    double refresh = 0;
    std::size_t fast = 0;
    for (double t = 0; t < kLength;
         t += finder.wanted_pace().value_or(100_ms).value() + 2e-4 * idle.uniform()) {
      FastReading reading = sensor.read(t);
      for (; t < kIdle && refresh <= t; refresh += 0.1) shown = 77.9 + 0.32 * std::floor(3 * idle.uniform());
      if (t < kIdle) reading.power = Watts(shown);
      finder.add(reading);
      fast += finder.wanted_pace() ? 1 : 0;
    }
    judge(power, finder.found().update_period, 0.1, 0.05);
    EXPECT_LE(fast, 3U * 201);
  }
  EXPECT_EQ(power.wrong, 0);
  EXPECT_GE(power.right, kSeeds * 3 / 4);
}

TEST(SensorFinder, TellsEachDiscoveryOnce) {
  const Job job(30, 7);
  Sensor sensor({.period_s = 0.02, .window_s = 0.02}, job, 8);
  SensorFinder finder(SensorFacts{});
  std::vector<SensorFindings> news;
  for (double t = 0.1; t < 30; t += finder.wanted_pace().value_or(100_ms).value()) {
    finder.add(sensor.read(t));
    if (const auto told = finder.take_news()) news.push_back(*told);
  }
  ASSERT_FALSE(news.empty());
  EXPECT_LE(news.size(), 2U);
  EXPECT_THAT(news.back().how, testing::HasSubstr("update period from"));
  EXPECT_GT(news.back().samples, 10U);
}

}  // namespace
}  // namespace rubato::measure
