#include "govern/rubato/stretch_meter.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace rubato::govern {
namespace {

/// Units of work, one by one.
struct Meter {
  StretchMeter meter;
  Tally tally{.work = 0, .at = {}, .energy = 0_J};

  explicit Meter(double cell = 0) { meter.begin(tally, cell); }
  void unit(double seconds, double watts) {
    tally.work += 1;
    tally.at = tally.at + Seconds(seconds);
    tally.energy = *tally.energy + Joules(seconds * watts);
    meter.add(tally);
  }
  void pause(double seconds, double watts) {
    tally.at = tally.at + Seconds(seconds);
    tally.energy = *tally.energy + Joules(seconds * watts);
    tally.outside = tally.outside + Seconds(seconds);
    tally.energy_outside = tally.energy_outside + Joules(seconds * watts);
  }
};

TEST(StretchMeter, EqualUnitsGiveTheirOwnTimeAndPower) {
  Meter m;
  for (int i = 0; i < 10; ++i) m.unit(0.5, 200);
  const auto mean = m.meter.mean();
  ASSERT_TRUE(mean);
  EXPECT_EQ(mean->work, 10);
  EXPECT_NEAR(std::exp(mean->log_time), 0.5, 1e-6);
  EXPECT_NEAR(std::exp(mean->log_power), 200, 1e-4);
  ASSERT_TRUE(mean->time_scatter);
  EXPECT_NEAR(*mean->time_scatter, 0, 1e-12);
  EXPECT_NEAR((mean->end - mean->begin).value(), 5, 1e-9);
}

TEST(StretchMeter, AStallDoesNotMoveTheMean) {
  Meter m;
  for (int i = 0; i < 20; ++i) m.unit(i == 7 ? 30 : 0.5, i == 7 ? 60 : 200);
  EXPECT_NEAR(std::exp(m.meter.mean()->log_time), 0.5, 1e-6);
  EXPECT_NEAR(std::exp(m.meter.mean()->log_power), 200, 1e-4);
}

TEST(StretchMeter, CellsDoubleWhenTheyAreFullAndLoseNothing) {
  Meter m;
  for (int i = 0; i < 1000; ++i) m.unit(i % 2 == 0 ? 0.4 : 0.6, 100);
  const auto mean = m.meter.mean();
  EXPECT_EQ(m.meter.work(), 1000);
  EXPECT_GE(mean->work, 1000 - 16);  // less what the open cell of 16 units holds
  EXPECT_NEAR(std::exp(mean->log_time), 0.5, 1e-6);
}

// As where each fifteenth is logged: a tenth is trimmed away of cells of one, and not of cells of two.
TEST(StretchMeter, IterationsThatAreRareAndLongCountTheSameInAShortStretchWithTheCellsOfALongOne) {
  const auto mean_of = [](Meter& m, int units) {
    for (int i = 0; i < units; ++i) m.unit(i % 15 == 0 ? 0.6 : 0.3, 200);
    return *m.meter.mean();
  };
  Meter whole;
  const StretchMean of_many = mean_of(whole, 900);
  Meter alike(of_many.cell);
  Meter single;
  EXPECT_EQ(of_many.cell, 2);
  EXPECT_NEAR(mean_of(alike, 90).log_time, of_many.log_time, 0.01);
  EXPECT_GT(std::abs(mean_of(single, 90).log_time - of_many.log_time), 0.02);
}

TEST(StretchMeter, ScatterIsOfSingleUnitsHoweverLargeTheCells) {
  Random random(1);
  Meter m;
  for (int i = 0; i < 3000; ++i) m.unit(0.5 * (1 + 0.02 * random.normal()), 100);
  EXPECT_NEAR(std::sqrt(*m.meter.mean()->time_scatter), 0.02, 0.007);
}

TEST(StretchMeter, PausesOutsideIterationsAreNotCounted) {
  Meter m;
  for (int i = 0; i < 20; ++i) {
    if (i % 5 == 0) m.pause(10, 50);
    m.unit(0.5, 200);
  }
  EXPECT_NEAR(std::exp(m.meter.mean()->log_time), 0.5, 1e-6);
  EXPECT_NEAR(std::exp(m.meter.mean()->log_power), 200, 1e-4);
}

TEST(StretchMeter, FewUnitsTellNoScatterAndNoneNothing) {
  Meter m;
  EXPECT_FALSE(m.meter.mean());
  m.unit(0.5, 200);
  m.meter.add(m.tally);  // the same again
  EXPECT_EQ(m.meter.mean()->work, 1);
  EXPECT_FALSE(m.meter.mean()->time_scatter);
}

TEST(StretchMeter, AJumpIsFoundWhereverItIsAndWhatCameAfterItIsTold) {
  for (const int at : {5, 12, 20, 27}) {
    Random random(static_cast<std::uint64_t>(at));
    Meter m;
    for (int i = 0; i < 32; ++i) m.unit((i < at ? 0.5 : 0.55) * (1 + 0.01 * random.normal()), 200);
    const auto after = m.meter.since_shift(0.02);
    ASSERT_TRUE(after) << at;
    EXPECT_NEAR(std::exp(after->log_time), 0.55, 0.02) << at;
    EXPECT_LT(after->work, 32) << at;
  }
}

TEST(StretchMeter, NoiseStallsAndUnitsOfTwoKindsAreNoJump) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    Meter noisy;
    Meter mixed;
    for (int i = 0; i < 24; ++i) {
      noisy.unit(0.5 * (1 + 0.02 * random.normal()) * (i == 22 ? 3 : 1), 200);
      mixed.unit((random.uniform() < 0.5 ? 0.4 : 0.6), 200);
    }
    EXPECT_FALSE(noisy.meter.since_shift(0.02)) << seed;
    EXPECT_FALSE(mixed.meter.since_shift(0.02)) << seed;
  }
}

TEST(StretchMeter, WithoutEnergyThereIsNoMean) {
  StretchMeter meter;
  meter.begin({.work = 0, .at = {}, .energy = {}});
  for (int i = 1; i < 10; ++i) meter.add({.work = i * 1.0, .at = TimePoint{} + Seconds(i), .energy = {}});
  EXPECT_FALSE(meter.mean());
  EXPECT_EQ(meter.work(), 9);
}

}  // namespace
}  // namespace rubato::govern
