// What the curve makes of counters that reset, leap, stand still or rest.
#include "analyse/energy_curve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace rubato::analyse {
namespace {

constexpr int kReadings = 9000;  // a tenth of a second apart: 15 minutes

TimePoint at(double seconds) {
  return TimePoint{0} + Seconds(seconds);
}

/// A board at 200 W throughout: 20 J between two readings, 180 kJ in all.
class Board {
 public:
  Board() {
    for (int i = 0; i <= kReadings; ++i) readings.push_back({at(0.1 * i), 200_W, Joules(5000 + 20.0 * i)});
  }
  /// Changes the counter of the readings from the first up to the last.
  Board& counter(int first, int last, const std::function<double(double)>& change) {
    for (int i = first; i < last; ++i) {
      auto& counter = readings[static_cast<std::size_t>(i)].energy_counter;
      counter = Joules(change(counter->value()));
    }
    return *this;
  }
  Board& without_power(int first = 0, int last = kReadings + 1) {
    for (int i = first; i < last; ++i) readings[static_cast<std::size_t>(i)].power.reset();
    return *this;
  }
  [[nodiscard]] EnergyCurve curve(Scope scope = Scope::gpu, bool rests = false) const {
    SensorFacts sensor;
    sensor.update_period = 100_ms;
    return {{&readings, &FastReading::power, &FastReading::energy_counter, scope, rests}, sensor};
  }
  [[nodiscard]] CurveEnergy all() const { return curve().between(at(0), at(900)).value(); }

  std::vector<FastReading> readings;
};

const auto kGigajouleMore = [](double joules) { return joules + 1e9; };
const auto kZero = [](double) { return 0.0; };

TEST(EnergyCurve, AFallThatStaysIsAResetAndBridgedByPower) {
  // At 400 s the counter stands at 85 kJ; at the end it is past its start again.
  const CurveEnergy e = Board().counter(4000, kReadings + 1, [](double j) { return j - 85'000; }).all();
  EXPECT_NEAR(e.energy.value(), 180'000, 1);
  EXPECT_LT(e.band_sampling.value(), 100);
  EXPECT_EQ(e.unseen, Seconds(0)) << "power was read";
}

TEST(EnergyCurve, ALeapThatStaysIsBridgedByPower) {
  const Board board = Board().counter(4000, kReadings + 1, kGigajouleMore);
  EXPECT_NEAR(board.all().energy.value(), 180'000, 1);
  EXPECT_NEAR(board.curve().between(at(390), at(410))->energy.value(), 4000, 1);
}

TEST(EnergyCurve, OneBadReadingOfTheCounterCostsNothing) {
  for (const auto& bad :
       {std::function<double(double)>(kGigajouleMore), std::function<double(double)>(kZero)})
    for (const bool power : {true, false}) {
      Board board = Board().counter(4000, 4001, bad);
      if (!power) board.without_power();
      const CurveEnergy e = board.all();
      EXPECT_NEAR(e.energy.value(), 180'000, 1e-6);
      EXPECT_EQ(e.unseen, Seconds(0));
      EXPECT_TRUE(board.curve().has_counter());
    }
}

TEST(EnergyCurve, ABadReadingAtAnEndCostsNoMoreThanItsTick) {
  for (const int i : {0, kReadings}) {
    EXPECT_NEAR(Board().counter(i, i + 1, kGigajouleMore).all().energy.value(), 180'000, 40) << i;
    EXPECT_NEAR(Board().counter(i, i + 1, kZero).all().energy.value(), 180'000, 40) << i;
  }
}

TEST(EnergyCurve, ALeapWithoutPowerIsTakenAtThePowerBefore) {
  const CurveEnergy e = Board().counter(4000, kReadings + 1, kGigajouleMore).without_power().all();
  EXPECT_NEAR(e.energy.value(), 180'000, 1e-6);
  EXPECT_NEAR(e.unseen.value(), 0.1, 1e-9);
}

TEST(EnergyCurve, WhereNothingTellsOfTheTimeBeforeAFaultItBeginsAfterIt) {
  const EnergyCurve curve = Board().counter(1, kReadings + 1, kGigajouleMore).without_power().curve();
  EXPECT_FALSE(curve.between(at(-1), at(900)));
  EXPECT_NEAR(curve.between(at(0.1), at(900))->energy.value(), 179'980, 1e-6);
  const std::vector<FastReading> fell = {{at(0), {}, 500_J}, {at(10), {}, 3_J}};
  EXPECT_TRUE(EnergyCurve({&fell, &FastReading::power, &FastReading::energy_counter}, {}).empty());
}

TEST(EnergyCurve, WhatHangsAtAWallMayDrawMoreThanABoard) {
  const Board rack = Board().counter(0, kReadings + 1, [](double j) { return 100 * j; }).without_power();
  EXPECT_NEAR(rack.curve(Scope::node).between(at(0), at(900))->energy.value(), 18e6, 1);
  EXPECT_TRUE(rack.curve(Scope::gpu).empty()) << "20 kW are no board's";
}

TEST(EnergyCurve, ACounterThatStoppedForGoodGivesWayToPower) {
  const double stopped = 5000 + 20.0 * 4000;
  const Board board = Board().counter(4000, kReadings + 1, [&](double) { return stopped; });
  EXPECT_NEAR(board.all().energy.value(), 180'000, 1);
  const Board never = Board().counter(0, kReadings + 1, [&](double) { return stopped; });
  EXPECT_NEAR(never.all().energy.value(), 180'000, 1);
  EXPECT_FALSE(never.curve().has_counter());
  // One bad reading makes no counter of it.
  const Board once = Board(never).counter(4000, 4001, kGigajouleMore);
  EXPECT_NEAR(once.all().energy.value(), 180'000, 1);
  EXPECT_FALSE(once.curve().has_counter());
}

// As a sensor is got to know: a second at 5 ms holds more readings than ten at 100 ms.
TEST(EnergyCurve, ABurstOfQuickReadingsMakesNoHolesOfTheRest) {
  std::vector<FastReading> readings;
  for (int i = 0; i < 200; ++i) readings.push_back({at(0.005 * i), 200_W, std::nullopt});
  for (int i = 0; i <= 100; ++i) readings.push_back({at(1 + 0.1 * i), 200_W, std::nullopt});
  const EnergyCurve curve({&readings, &FastReading::power, nullptr}, {});
  EXPECT_NEAR(curve.update_period().value(), 0.1, 1e-9);
  const auto all = curve.between(at(0), at(11));
  ASSERT_TRUE(all);
  EXPECT_NEAR(all->energy.value(), 2200, 1e-6);
  EXPECT_EQ(all->unseen, 0_s);
}

TEST(EnergyCurve, AHoleIsNoPace) {
  std::vector<FastReading> readings;
  for (int i = 0; i < 30; ++i) readings.push_back({at(i < 20 ? i : i + 100), 200_W, std::nullopt});
  const EnergyCurve curve({&readings, &FastReading::power, nullptr}, {});
  EXPECT_NEAR(curve.update_period().value(), 1.0, 1e-9);
  // Two of a minute among forty readings: more time than all the rest.
  readings.clear();
  for (int i = 0; i < 40; ++i)
    readings.push_back({at(i + (i < 10 ? 0 : i < 30 ? 60 : 120)), 200_W, std::nullopt});
  const EnergyCurve holed({&readings, &FastReading::power, nullptr}, {});
  EXPECT_NEAR(holed.update_period().value(), 1.0, 1e-9);
  EXPECT_NEAR(holed.between(at(0), at(150))->unseen.value(), 120, 4);
}

// A counter that sees everything says nothing of the time after it stopped.
TEST(EnergyCurve, PowerThatStandsInForACounterMissesWhatPowerMisses) {
  const double stopped = 5000 + 20.0 * 4000;
  Board board = Board().counter(4000, kReadings + 1, [&](double) { return stopped; });
  for (std::size_t i = 0; i < board.readings.size(); ++i)
    board.readings[i].power = Watts(i % 2 == 0 ? 150 : 250);
  SensorFacts sensor;
  sensor.update_period = 100_ms;
  sensor.averaging_window = 30_ms;
  const auto band = [&](double from, double to) {
    const EnergyCurve curve({&board.readings, &FastReading::power, &FastReading::energy_counter}, sensor);
    return curve.between(at(from), at(to))->band_sampling;
  };
  const Joules blind_counted = band(100, 300);
  const Joules blind_powered = band(500, 800);
  sensor.counter_sees_all = true;
  EXPECT_LT(band(100, 300), 0.9 * blind_counted);
  EXPECT_EQ(band(500, 800), blind_powered);
}

TEST(EnergyCurve, ACounterThatStoodStillAndGoesOnHasLostTheTimeBetween) {
  Board board = Board().counter(4000, 5000, [](double) { return 85'000; });
  board.counter(5000, kReadings + 1, [](double j) { return j - 20'000; });
  EXPECT_NEAR(board.all().energy.value(), 180'000, 21);
}

TEST(EnergyCurve, ACounterThatCatchesUpIsBelieved) {
  // Its gain is not the power's: in all it counts nine tenths.
  Board board = Board().counter(0, kReadings + 1, [](double j) { return 0.9 * j; });
  board.counter(4000, 5000, [](double) { return 0.9 * 85'000; });
  EXPECT_NEAR(board.all().energy.value(), 162'000, 1e-6);
}

TEST(EnergyCurve, OneReadingThatIsTooHighByNoMoreThanMayBeIsTakenBack) {
  const CurveEnergy e = Board().counter(4000, 4001, [](double j) { return j + 300; }).all();
  EXPECT_NEAR(e.energy.value(), 180'000, 1);
}

TEST(EnergyCurve, ATablesCounterRestsWhereNoPowerIsReadEither) {
  Board board = Board().counter(4000, 5000, [](double) { return 85'000; }).without_power(4001, 5000);
  board.counter(5000, kReadings + 1, [](double j) { return j - 20'000 + 20; });
  const EnergyCurve curve = board.curve(Scope::gpu, true);
  EXPECT_NEAR(curve.between(at(0), at(900))->energy.value(), 160'000, 21);
  EXPECT_NEAR(curve.between(at(410), at(490))->energy.value(), 0, 1e-6);
}

TEST(EnergyCurve, ACoarseRegisterAloneIsALineBetweenItsSteps) {
  // 4 kJ at once, each 20 s, and from 400 s on at a quarter of the power each 80 s.
  Board board = Board().without_power();
  for (std::size_t i = 0; i < board.readings.size(); ++i) {
    const double drawn = 20.0 * static_cast<double>(std::min<std::size_t>(i, 4000)) +
                         5.0 * static_cast<double>(i - std::min<std::size_t>(i, 4000));
    board.readings[i].energy_counter = Joules(4000 * std::floor(drawn / 4000 + 0.5));
  }
  const EnergyCurve curve = board.curve(Scope::node);
  EXPECT_NEAR(curve.between(at(110), at(210))->energy.value(), 20'000, 100);
  EXPECT_NEAR(curve.between(at(100), at(205))->energy.value(), 21'000, 200) << "steps cut in the middle";
  EXPECT_NEAR(curve.between(at(500), at(800))->energy.value(), 15'000, 200);
}

TEST(EnergyCurve, BeforeACounterIsReadableThereIsPower) {
  Board board;
  for (int i = 0; i < 4000; ++i) board.readings[static_cast<std::size_t>(i)].energy_counter.reset();
  board.readings[4000].energy_counter = Joules(std::numeric_limits<double>::quiet_NaN());
  EXPECT_NEAR(board.all().energy.value(), 180'000, 1);
}

}  // namespace
}  // namespace rubato::analyse
