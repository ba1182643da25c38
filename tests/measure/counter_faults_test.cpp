// What a meter makes of counters that reset, leap, fall, stand still, or move in coarse steps.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "made_readings.h"

namespace rubato::measure {
namespace {

using made::at_s;
using made::reading;
using made::usual_facts;
using made::usual_meter;
using testing::HasSubstr;

TEST(CounterFaults, ACounterResetIsJoinedWithIntegratedPowerAndSaidSo) {
  EnergyMeter meter = usual_meter();
  int resets = 0;
  for (int i = 0; i <= 100; ++i) {
    const auto step = meter.add(reading(0.1 * i, 300_W, Joules(i < 50 ? 9000 + 30.0 * i : 30.0 * (i - 50))));
    if (step && std::holds_alternative<CounterReset>(*step)) ++resets;
  }
  EXPECT_EQ(resets, 1);
  const auto detail = meter.inspect(at_s(0), at_s(10));
  ASSERT_TRUE(detail);
  EXPECT_NEAR(detail->window.energy.value(), 3000, 1e-6);
  EXPECT_EQ(detail->counter_faults.resets, 1U);
  EXPECT_THAT(detail->window.source.quality, HasSubstr("1 counter reset"));
}

TEST(CounterFaults, AResetInsideALongHoleWidensTheBandOfItsEnergy) {
  EnergyMeter meter = usual_meter();
  for (int i = 0; i <= 50; ++i) meter.add(reading(0.1 * i, 300_W, Joules(9000 + 30.0 * i)));
  for (int i = 150; i <= 250; ++i) meter.add(reading(0.1 * i, 300_W, Joules(30.0 * (i - 149))));
  const auto detail = meter.inspect(at_s(0), at_s(25));
  EXPECT_NEAR(detail->window.energy.value(), 7500, 20);
  EXPECT_GT(detail->window.band_sampling.value(), 1000);
  EXPECT_EQ(detail->gaps.size(), 1U);
}

TEST(CounterFaults, ACounterThatStandsStillGivesWayToIntegratedPower) {
  EnergyMeter meter = usual_meter();
  for (int i = 0; i <= 100; ++i) meter.add(reading(0.1 * i, 300_W, 5000_J));
  const auto window = meter.window(at_s(0), at_s(10));
  EXPECT_EQ(window->source.name, kIntegratedPower);
  EXPECT_NEAR(window->energy.value(), 3000, 1e-6);
  EXPECT_THAT(window->source.quality, HasSubstr("did not move in 10"));
}

TEST(CounterFaults, ACounterThatStopsInMidRunIsBridgedByPowerAndSaidSo) {
  EnergyMeter meter = usual_meter();
  for (int i = 0; i <= 200; ++i) meter.add(reading(0.1 * i, 300_W, Joules(30.0 * std::min(i, 100))));
  const auto detail = meter.inspect(at_s(0), at_s(20));
  ASSERT_TRUE(detail);
  EXPECT_NEAR(detail->window.energy.value(), 6000, 20);
  EXPECT_EQ(detail->counter_faults.stills, 1U);
  EXPECT_THAT(detail->window.source.quality, HasSubstr("stood still"));
  EXPECT_NEAR(meter.window(at_s(0), at_s(9))->energy.value(), 2700, 20) << "before it stopped";
}

TEST(CounterFaults, ACounterThatStoodStillAndGoesOnHasLostTheTimeBetween) {
  EnergyMeter meter = usual_meter();
  const auto frozen = [](int i) { return i < 50 ? i : std::max(50, i - 50); };
  int told = 0;
  for (int i = 0; i <= 200; ++i) {
    const auto step = meter.add(reading(0.1 * i, 300_W, Joules(30.0 * frozen(i))));
    if (step && std::holds_alternative<CounterStood>(*step)) ++told;
  }
  EXPECT_EQ(told, 1);
  const auto detail = meter.inspect(at_s(0), at_s(20));
  EXPECT_NEAR(detail->window.energy.value(), 6000, 30);
  EXPECT_EQ(detail->counter_faults.stills, 1U);
}

TEST(CounterFaults, ACounterThatCatchesUpHasLostNothing) {
  EnergyMeter meter = usual_meter();
  const auto late = [](int i) { return i > 50 && i < 100 ? 50 : i; };
  for (int i = 0; i <= 200; ++i) meter.add(reading(0.1 * i, 300_W, Joules(30.0 * late(i))));
  const auto detail = meter.inspect(at_s(0), at_s(20));
  EXPECT_NEAR(detail->window.energy.value(), 6000, 1e-6);
  EXPECT_EQ(detail->counter_faults.count(), 0U);
}

TEST(CounterFaults, AJumpOfAGigajouleIsNoEnergy) {
  EnergyMeter meter = usual_meter();
  int told = 0;
  for (int i = 0; i <= 100; ++i) {
    const auto step = meter.add(reading(0.1 * i, 300_W, Joules(30.0 * i + (i < 50 ? 0 : 1e9))));
    if (step && std::holds_alternative<CounterJump>(*step)) ++told;
  }
  EXPECT_EQ(told, 1);
  const auto detail = meter.inspect(at_s(0), at_s(10));
  EXPECT_NEAR(detail->window.energy.value(), 3000, 1e-6);
  EXPECT_EQ(detail->counter_faults.jumps, 1U);
  EXPECT_THAT(detail->window.source.quality, HasSubstr("impossible jump"));
}

TEST(CounterFaults, OneWrongReadingOfAnOldCounterCostsNothing) {
  for (const double wrong_by : {200.0, 1e9, -20.0, -40.0, -5e8}) {
    EnergyMeter meter = usual_meter();
    int resets = 0;
    for (int i = 0; i <= 600; ++i) {
      const double counter = 5e8 + 30.0 * i + (i == 250 ? wrong_by : 0);
      const auto step = meter.add(reading(0.1 * i, 300_W, Joules(counter)));
      if (step && std::holds_alternative<CounterReset>(*step) && wrong_by > -1e8) ++resets;
    }
    const auto window = meter.window(at_s(0), at_s(60));
    ASSERT_TRUE(window) << wrong_by;
    EXPECT_NEAR(window->energy.value(), 18000, 1) << wrong_by;
    EXPECT_LT(window->band_sampling.value(), 60) << wrong_by;
    EXPECT_EQ(resets, 0) << wrong_by;
  }
}

TEST(CounterFaults, ACounterThatFallsWithoutBeginningAnewIsBridgedByPower) {
  EnergyMeter meter = usual_meter();
  for (int i = 0; i <= 600; ++i)
    meter.add(reading(0.1 * i, 300_W, Joules(5e8 + 30.0 * i - (i < 250 ? 0 : 1e5))));
  const auto detail = meter.inspect(at_s(0), at_s(60));
  ASSERT_TRUE(detail);
  EXPECT_NEAR(detail->window.energy.value(), 18000, 1);
  EXPECT_EQ(detail->counter_faults.resets, 0U);
  EXPECT_EQ(detail->counter_faults.jumps, 1U);
}

TEST(CounterFaults, ACoarseRegisterAloneTellsItsEnergyWithinAStep) {
  struct Case {
    double step_j;
    double watts;
    double seconds;
  };
  for (const auto& [step_j, watts, seconds] :
       {Case{3600, 100, 120}, Case{3600, 100, 600}, Case{36000, 600, 300}, Case{360000, 600, 2400}}) {
    for (const double shift : {0.1, 0.5, 0.9}) {
      EnergyMeter meter(usual_facts(), Kind::measured, "wall", Scope::node);
      meter.pin(at_s(0));
      for (int i = 0; i <= static_cast<int>(seconds); ++i) {
        const double steps = std::floor(watts * i / step_j + shift);
        meter.add(reading(i, std::nullopt, Joules(7e9 + steps * step_j)));
        if (i % 100 == 0) meter.forget(at_s(i));
      }
      const auto window = meter.window(at_s(0), at_s(seconds));
      ASSERT_TRUE(window) << step_j << " " << shift;
      EXPECT_NEAR(window->energy.value(), watts * seconds, window->band_sampling.value()) << step_j << shift;
      EXPECT_GT(window->band_sampling.value(), 0.5 * step_j);
      EXPECT_LT(window->band_sampling.value(), 2.5 * step_j);
    }
  }
}

TEST(CounterFaults, ARegisterAloneThatNeverMovedOrStoppedIsUnknownNotZero) {
  EnergyMeter never(usual_facts(), Kind::measured, "wall", Scope::node);
  EnergyMeter stopped(usual_facts(), Kind::measured, "wall", Scope::node);
  for (int i = 0; i <= 3000; ++i) {
    never.add(reading(0.1 * i, std::nullopt, 500_J));
    stopped.add(reading(0.1 * i, std::nullopt, Joules(500 + 2.0 * std::min(i, 100))));
  }
  EXPECT_FALSE(never.window(at_s(0), at_s(300)));
  EXPECT_FALSE(stopped.window(at_s(0), at_s(300)));
  EXPECT_NEAR(stopped.window(at_s(0), at_s(9))->energy.value(), 180, 2);
}

TEST(CounterFaults, ACounterBelowZeroIsNoCounter) {
  EnergyMeter meter = usual_meter();
  for (int i = 0; i <= 100; ++i) EXPECT_FALSE(meter.add(reading(0.1 * i, 300_W, Joules(-5.0 - i))));
  const auto window = meter.window(at_s(0), at_s(10));
  EXPECT_EQ(window->source.name, kIntegratedPower);
  EXPECT_NEAR(window->energy.value(), 3000, 1e-6);
  EXPECT_THAT(window->source.quality, HasSubstr("below zero"));
}

}  // namespace
}  // namespace rubato::measure
