#include <gmock/gmock.h>

#include "analyse/summary.h"
#include "made_run.h"

namespace rubato::analyse {
namespace {

using namespace testing_data;
using testing::HasSubstr;
using testing::SizeIs;

// 200 W and 1 s against 125 W and 1.2 s: 200 J against 150 J an iteration.
MadeRun quarter_saved(int gpus = 1, double noise = 0.0) {
  MadeRun run(gpus);
  run.idle(BlockRole::warmup, 20_s, 50_W);
  run.block(BlockRole::baseline, 40, 1_s, 200_W, noise);
  run.block(BlockRole::hold, 80, 1.2_s, 125_W, noise);
  run.block(BlockRole::control, 10, 1_s, 200_W, noise);
  return run;
}

TEST(Summary, ComparesTheHeldSettingWithTheFoundOne) {
  const Summary s = summarise(quarter_saved().ended());
  ASSERT_TRUE(s.savings) << s.why_no_savings;
  EXPECT_NEAR(s.savings->energy_per_iteration.value, 0.25, 1e-9);
  EXPECT_NEAR(s.savings->slowdown.value, 0.2, 1e-9);
  EXPECT_NEAR(s.savings->edp_per_iteration.value, 1 - 0.75 * 1.2, 1e-9);
  EXPECT_NEAR(s.savings->ed2p_per_iteration.value, 1 - 0.75 * 1.2 * 1.2, 1e-9);
  EXPECT_EQ(s.savings->kind, Kind::modelled);
  EXPECT_EQ(s.savings->found_iterations, 50);
  EXPECT_EQ(s.savings->hold_iterations, 80);
  // 1000 J start, 10 000 J found, 12 000 J held instead of 16 000 J.
  EXPECT_NEAR(s.savings->run_saved.value(), 4000, 1e-6);
  EXPECT_NEAR(s.savings->run_energy.value, 4000.0 / 27000, 1e-9);
  // 166 s, of which 16 s are held iterations taking longer.
  EXPECT_NEAR(s.savings->run_longer.value(), 16, 1e-6);
  EXPECT_NEAR(s.savings->run_slowdown.value, 16.0 / 150, 1e-9);
}

TEST(Summary, GivesEachSettingItsOwnRow) {
  const Summary s = summarise(quarter_saved().ended());
  ASSERT_THAT(s.settings, SizeIs(4));
  EXPECT_EQ(s.settings[0].role, BlockRole::warmup);
  EXPECT_FALSE(s.settings[0].iteration_time);
  EXPECT_NEAR(s.settings[2].energy_per_iteration->value(), 150, 1e-9);
  EXPECT_NEAR(s.settings[2].iteration_time->value(), 1.2, 1e-9);
  EXPECT_NEAR(s.settings[2].mean_power->value(), 125, 1e-9);
}

// A training loads its libraries for seconds before it begins; what is found is measured from the start.
TEST(Summary, WhatHadNoIterationsIsNotSharedOutToThem) {
  MadeRun run;
  run.idle(BlockRole::baseline, 5_s, 80_W);
  run.block(BlockRole::baseline, 10, 0.5_s, 200_W);
  const Summary s = summarise(run.ended());
  ASSERT_THAT(s.settings, SizeIs(1));
  EXPECT_NEAR(s.settings[0].time.value(), 10, 1e-9);
  EXPECT_NEAR(s.settings[0].energy->value(), 1400, 1e-6);
  EXPECT_NEAR(s.settings[0].iteration_time->value(), 0.5, 1e-9);
  EXPECT_NEAR(s.settings[0].energy_per_iteration->value(), 100, 1e-9);
}

TEST(Summary, OfTwoGpusSumsEnergyAndCountsIterationsOnce) {
  const Summary s = summarise(quarter_saved(2).ended());
  ASSERT_THAT(s.gpus, SizeIs(2));
  ASSERT_TRUE(s.savings) << s.why_no_savings;
  EXPECT_EQ(s.savings->hold_iterations, 80);
  EXPECT_NEAR(s.settings[2].energy_per_iteration->value(), 300, 1e-9);
  EXPECT_NEAR(s.savings->energy_per_iteration.value, 0.25, 1e-9);
  EXPECT_NEAR(s.savings->run_saved.value(), 8000, 1e-6);
  EXPECT_NEAR(s.total->energy.value(), 2 * s.gpus[0].energy->energy.value(), 1e-6);
  EXPECT_NEAR(s.total->band_calibration.value(), 0.05 * s.total->energy.value(), 1e-6);
}

TEST(Summary, IntervalHoldsTheTruthAndGrowsWithTheNoise) {
  const Summary quiet = summarise(quarter_saved(1, 0.01).ended());
  const Summary noisy = summarise(quarter_saved(1, 0.10).ended());
  const auto width = [](const Estimate& e) { return e.interval->high - e.interval->low; };
  for (const Summary* s : {&quiet, &noisy}) {
    ASSERT_TRUE(s->savings);
    ASSERT_TRUE(s->savings->slowdown.interval);
    EXPECT_LT(s->savings->slowdown.interval->low, 0.2);
    EXPECT_GT(s->savings->slowdown.interval->high, 0.2);
    ASSERT_TRUE(s->savings->energy_per_iteration.interval);
    EXPECT_LT(s->savings->energy_per_iteration.interval->low, 0.25);
    EXPECT_GT(s->savings->energy_per_iteration.interval->high, 0.25);
    ASSERT_TRUE(s->savings->edp_per_iteration.interval);
    EXPECT_GT(width(s->savings->edp_per_iteration), width(s->savings->energy_per_iteration));
  }
  EXPECT_GT(width(noisy.savings->slowdown), 3 * width(quiet.savings->slowdown));
}

TEST(Summary, GivesNoIntervalFromTooFewObservations) {
  MadeRun run;
  run.block(BlockRole::baseline, 3, 1_s, 200_W).block(BlockRole::hold, 30, 1_s, 150_W);
  const Summary s = summarise(run.ended());
  ASSERT_TRUE(s.savings);
  EXPECT_NEAR(s.savings->energy_per_iteration.value, 0.25, 1e-9);
  EXPECT_FALSE(s.savings->energy_per_iteration.interval);
  EXPECT_THAT(s.savings->energy_per_iteration.why_no_interval, HasSubstr("only 3"));
}

// A gain error of the sensor multiplies every reading alike.
TEST(Summary, SavingDoesNotDependOnTheSensorsGain) {
  auto run = quarter_saved(1, 0.05).ended();
  const Summary right = summarise(run);
  for (auto& reading : run.devices[0].fast) *reading.energy_counter *= 1.05;
  for (auto& block : run.blocks) {
    block.energy->energy *= 1.05;
    block.energy->band_sampling *= 1.05;
  }
  const Summary off = summarise(run);
  EXPECT_NEAR(off.savings->energy_per_iteration.value, right.savings->energy_per_iteration.value, 1e-9);
  EXPECT_NEAR(off.savings->energy_per_iteration.interval->low,
              right.savings->energy_per_iteration.interval->low, 1e-9);
}

TEST(Summary, SaysWhyNothingCanBeCompared) {
  auto measured = quarter_saved().ended();
  measured.info.mode = "measure";
  EXPECT_THAT(summarise(measured).why_no_savings, HasSubstr("measured only"));

  MadeRun no_iterations;
  no_iterations.idle(BlockRole::baseline, 10_s, 200_W).idle(BlockRole::hold, 10_s, 150_W);
  EXPECT_THAT(summarise(no_iterations.ended()).why_no_savings, HasSubstr("No training iterations"));

  MadeRun no_baseline;
  no_baseline.block(BlockRole::warmup, 10, 1_s, 200_W).block(BlockRole::hold, 10, 1_s, 150_W);
  EXPECT_THAT(summarise(no_baseline.ended()).why_no_savings, HasSubstr("no baseline"));

  MadeRun nothing_held;
  nothing_held.block(BlockRole::baseline, 10, 1_s, 200_W);
  EXPECT_THAT(summarise(nothing_held.ended()).why_no_savings, HasSubstr("No other setting"));

  auto no_energy = quarter_saved().ended();
  for (auto& block : no_energy.blocks) block.energy.reset();
  EXPECT_THAT(summarise(no_energy).why_no_savings, HasSubstr("could not be read"));
  EXPECT_FALSE(summarise(no_energy).settings[1].energy);
}

TEST(Summary, AFoundSettingThatWasKeptIsNoChosenOne) {
  MadeRun kept;
  kept.block(BlockRole::baseline, 10, 1_s, 200_W)
      .trying({.power_limit = 180_W})
      .block(BlockRole::trial, 10, 1.2_s, 180_W)
      .holding({})
      .block(BlockRole::hold, 100, 1_s, 206_W);
  const auto summary = summarise(kept.ended());
  EXPECT_FALSE(summary.savings);
  EXPECT_THAT(summary.why_no_savings, HasSubstr("The found setting was kept"));

  // Held for a while and given up: what ran at the found setting is the baseline, whatever it was called.
  MadeRun given_up;
  given_up.block(BlockRole::baseline, 100, 1_s, 200_W).block(BlockRole::hold, 100, 1_s, 150_W);
  given_up.holding({}).block(BlockRole::hold, 100, 1_s, 200_W);
  const auto some = summarise(given_up.ended());
  ASSERT_TRUE(some.savings) << some.why_no_savings;
  EXPECT_EQ(some.savings->found_iterations, 200);
  EXPECT_NEAR(some.savings->energy_per_iteration.value, 0.25, 1e-9);
}

TEST(Summary, OfARecordCutShortTakesTheEnergyFromItsSamples) {
  auto run = quarter_saved().ended();
  run.end.reset();
  const Summary s = summarise(run);
  ASSERT_TRUE(s.gpus[0].energy);
  EXPECT_NEAR(s.gpus[0].energy->energy.value(), 23000, 1e-6);
  EXPECT_FALSE(s.gpus[0].restoration);
  EXPECT_FALSE(s.cost);
  EXPECT_NEAR(s.duration->value(), 166, 1e-6);
}

record::RunRecord cut_short(MadeRun made = quarter_saved()) {
  record::RunRecord run = made.ended();
  run.end.reset();
  return run;
}

TEST(Summary, OfARecordCutShortKnowsTheFaultsOfACounter) {
  // 23 kJ in all, and 12 kJ at reading 61, in the hold block.
  record::RunRecord reset = cut_short();
  for (std::size_t i = 61; i < reset.devices[0].fast.size(); ++i)
    *reset.devices[0].fast[i].energy_counter -= 11'900_J;
  record::RunRecord frozen = cut_short();
  for (FastReading& reading : frozen.devices[0].fast) reading.energy_counter = 7_J;
  record::RunRecord leap = cut_short();
  for (std::size_t i = 61; i < leap.devices[0].fast.size(); ++i)
    *leap.devices[0].fast[i].energy_counter += 1e9_J;
  record::RunRecord glitch = cut_short();
  *glitch.devices[0].fast[61].energy_counter += 1e9_J;
  for (const auto* run : {&reset, &leap, &glitch})
    EXPECT_NEAR(summarise(*run).gpus[0].energy->energy.value(), 23'000, 200);
  EXPECT_EQ(summarise(glitch).gpus[0].energy->source.name, "energy_counter");
  const EnergyWindow of_power = *summarise(frozen).gpus[0].energy;
  EXPECT_EQ(of_power.source.name, "integrated_power");
  EXPECT_THAT(of_power.source.quality, HasSubstr("without readings, estimated")) << "20 ms are told";
  EXPECT_GT(of_power.band_sampling.value(), 0.4 * of_power.energy.value());
}

TEST(Summary, OfARecordCutShortIsCalibratedOnce) {
  record::RunRecord run = cut_short();
  SensorFacts& sensor = run.devices[0].info.sensor;
  sensor.gain = 0.95;
  sensor.offset = 2_W;
  sensor.calibrated_by = "calibrated against snmp:rack";
  sensor.calibration_floor = 1_W;
  const EnergyWindow energy = *summarise(run).gpus[0].energy;
  const double truth = 23'000 / 0.95 - 2 * 166;
  EXPECT_NEAR(energy.energy.value(), truth, 1e-6);
  EXPECT_NEAR(energy.band_calibration.value(), 0.05 * truth + 166 / 0.95, 1e-6);
  EXPECT_THAT(energy.source.quality, HasSubstr("calibrated against snmp:rack"));
}

TEST(Summary, OwnCostIsAFractionOfWallTime) {
  auto run = quarter_saved().ended();
  run.info.clock_rate = 10.0;
  const Summary s = summarise(run);
  ASSERT_TRUE(s.cost);
  EXPECT_NEAR(s.cost->wall->value(), 16.6, 1e-9);
  EXPECT_NEAR(*s.cost->cpu_fraction, 0.04 / 16.6, 1e-9);
  EXPECT_NEAR(*s.cost->driver_fraction, 0.3 / 16.6, 1e-9);
  EXPECT_NEAR(*s.cost->bytes_per_tick, 10, 1e-9);
}

}  // namespace
}  // namespace rubato::analyse
