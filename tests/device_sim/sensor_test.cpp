#include "device_sim/sim_fixture.h"

namespace rubato::device::sim {
namespace {

TEST(SimulatedSensor, TheCounterIsTheTrueEnergyTimesTheBoardsGain) {
  for (const char* profile : {"v100", "a100", "rtxa4000"}) {
    Bench bench(profile);
    bench.load(stream());
    bench.run(100_s);
    const Truth truth = bench.truth();
    const double sensed = bench.read().energy_counter->value();
    const double expected = truth.sensor_gain * truth.energy.value() + truth.sensor_offset.value() * 100.0;
    // The counter steps every 0.1 s, so it may be that much behind.
    EXPECT_NEAR(sensed, expected, 0.1 * 300.0) << profile;
    EXPECT_LE(sensed, expected + 1e-3) << profile;
  }
}

TEST(SimulatedSensor, TheCounterStandsStillBetweenItsSteps) {
  Bench bench;
  bench.run(1_s);
  int changes = 0;
  Joules last = *bench.read().energy_counter;
  for (int i = 0; i < 1000; ++i) {
    bench.now = bench.now + 1_ms;
    if (const Joules now = *bench.read().energy_counter; now != last) {
      ++changes;
      last = now;
    }
  }
  EXPECT_EQ(changes, 10);
}

TEST(SimulatedSensor, PowerIsRefreshedAtTheBoardsOwnPeriod) {
  const auto refreshes_a_second = [](const char* profile) {
    Bench bench(profile);
    bench.run(1_s);
    int changes = 0;
    TimePoint last = bench.read().power_updated;
    for (int i = 0; i < 1000; ++i) {
      bench.now = bench.now + 1_ms;
      if (const TimePoint at = bench.read().power_updated; at != last) {
        ++changes;
        last = at;
      }
    }
    return changes;
  };
  EXPECT_EQ(refreshes_a_second("v100"), 50);
  EXPECT_EQ(refreshes_a_second("a100"), 10);
  EXPECT_EQ(refreshes_a_second("rtxa4000"), 10);
}

// Half load, half pause, in step with the sensor: it sees a quarter of each period and takes it for the
// whole.
TEST(SimulatedSensor, APartTimeSensorCanMissWhatIsInStepWithIt) {
  Bench bench("a100");
  // At 100 ms a period the pause is 50 ms that no clock changes.
  const Segment square[] = {{.memory_s = 0.05 * 2.15, .memory_activity = 1.0}, {.fixed_s = 0.05}};
  const auto id = bench.world->add_context(0, 1, 0, square, bench.now);
  double least = 1e9;
  double most = 0.0;
  Truth begin = bench.truth();
  // Phases of work against sensor: each shift waits 10 ms more between two bursts of iterations.
  for (int shift = 0; shift < 10; ++shift) {
    for (int i = 0; i < 8; ++i) ASSERT_TRUE(bench.world->submit(0, *id, 1.0, bench.now));
    bench.now = bench.now + 700_ms;
    if (shift == 1) begin = bench.truth();
    const double shown = bench.read().power_instant.value();
    least = std::min(least, shown);
    most = std::max(most, shown);
    bench.now = bench.now + 110_ms;
    static_cast<void>(bench.truth());
  }
  const double mean = (bench.truth().energy - begin.energy).value() / (8 * 0.81);
  EXPECT_GT(most, mean * 1.15);
  EXPECT_LT(least, mean * 0.85);
}

TEST(SimulatedSensor, TheAverageFieldLagsBehindTheInstantOne) {
  Bench bench("rtxa4000");
  bench.run(5_s);
  bench.load(stream());
  bench.run(300_ms);
  EXPECT_GT(bench.read().power_instant, bench.read().power_average + 5_W);
  bench.run(2_s);
  EXPECT_NEAR(bench.read().power_instant.value(), bench.read().power_average.value(), 1.0);
}

TEST(SimulatedSensor, TheFirstReadingOfAFreshWorldIsWhatItShowsWhenIdle) {
  for (const ProfileSummary& summary : list_profiles()) {
    Bench bench(summary.name);
    const double first = bench.read().power_instant.value();
    for (int i = 0; i < 40; ++i) {
      bench.run(7_ms);
      EXPECT_NEAR(bench.read().power_instant.value(), first, 0.1)
          << summary.name << " after " << i * 7 << " ms";
      EXPECT_NEAR(bench.read().power_average.value(), first, 0.1) << summary.name;
    }
  }
}

// 0.222 s is the time constant in the profile: after it 63 % of a step show, after five of them all.
TEST(SimulatedSensor, AKeplerBoardCreepsAfterAStep) {
  Bench bench("k80");
  bench.run(5_s);
  const double before = bench.read().power_instant.value();
  bench.load(stream());
  bench.run(300_ms);
  const double early = bench.read().power_instant.value() - before;
  bench.run(2_s);
  const double all = bench.read().power_instant.value() - before;
  EXPECT_GT(early, 0.4 * all);
  EXPECT_LT(early, 0.85 * all);
  EXPECT_FALSE(bench.read().energy_counter);
}

TEST(SimulatedSensor, HopperShowsTheMemoryAloneAndOthersDoNot) {
  Bench bench("h100");
  bench.load(stream());
  bench.run(5_s);
  const Readout r = bench.read();
  ASSERT_TRUE(r.memory_power);
  EXPECT_GT(*r.memory_power, 100_W);
  EXPECT_LT(*r.memory_power, r.power_instant);
  EXPECT_FALSE(r.module_power);
  EXPECT_FALSE(Bench("v100").read().memory_power);
}

TEST(SimulatedSensor, ASuperchipShowsItsModuleAsWell) {
  Bench bench("gh200");
  bench.load(stream());
  bench.run(100_s);
  const Readout r = bench.read();
  ASSERT_TRUE(r.module_power && r.module_energy_counter);
  EXPECT_NEAR((*r.module_power - r.power_instant).value(), 150.0, 0.01);
  // 150 W for 100 s, in steps of 0.1 s.
  EXPECT_NEAR((*r.module_energy_counter - *r.energy_counter).value(), 15000.0, 16.0);
}

TEST(SimulatedSensor, BoardsOfOneModelDiffer) {
  const std::vector<std::string> two{"v100", "v100"};
  const auto world = SimWorld::create_private(two);
  EXPECT_NE(world->get()->truth(0, {})->sensor_gain, world->get()->truth(1, {})->sensor_gain);
}

TEST(SimulatedSensor, AConstantLoadForTenSecondsIsTenTimesItsPower) {
  Bench bench("a100");
  bench.load(stream());
  bench.run(600_s);
  const Truth begin = bench.truth();
  bench.run(10_s);
  EXPECT_NEAR((bench.truth().energy - begin.energy).value(), 10.0 * begin.power.value(),
              0.01 * begin.power.value());
}

}  // namespace
}  // namespace rubato::device::sim
