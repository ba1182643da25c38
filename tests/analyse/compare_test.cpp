#include "analyse/compare.h"

#include <gmock/gmock.h>

#include "base/random.h"
#include "made_run.h"

namespace rubato::analyse {
namespace {

using namespace testing_data;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::Not;

record::RunRecord measured(Seconds each = 1_s, Watts power = 200_W, std::int64_t iterations = 100,
                           double noise = 0.0, Kind kind = Kind::modelled) {
  MadeRun made(1, kind);
  made.block(BlockRole::baseline, iterations, each, power, noise);
  record::RunRecord run = made.ended();
  run.info.run_id = "20261121-080000-0001";
  for (auto& device : run.end->devices) device.requested.reset();
  return run;
}

record::RunRecord held(Seconds each = 1.25_s, Watts power = 120_W, std::int64_t iterations = 100,
                       double noise = 0.0) {
  MadeRun made;
  made.block(BlockRole::baseline, 20, 1_s, 200_W, noise);
  made.block(BlockRole::hold, iterations - 20, each, power, noise);
  return made.ended();
}

Comparison compared(const record::RunRecord& a, const record::RunRecord& b) {
  const Summary of_a = summarise(a);
  const Summary of_b = summarise(b);
  return compare({a, of_a}, {b, of_b});
}

auto has_warning(const char* code) {
  return Field(&Comparison::warnings, Contains(Field(&Warning::code, code)));
}
auto differs_in(const char* name, const char* a, const char* b) {
  return Field(&Comparison::differing,
               Contains(AllOf(Field(&Fact::name, name), Field(&Fact::a, a), Field(&Fact::b, b))));
}

TEST(Compare, TakesIterationsWhereEachRunSettled) {
  const Comparison c = compared(measured(), held());
  EXPECT_NEAR(*c.iteration_energy.a, 200, 1e-9);
  EXPECT_NEAR(*c.iteration_energy.b, 150, 1e-9);
  EXPECT_NEAR(c.iteration_energy.difference->fraction, -0.25, 1e-9);
  EXPECT_NEAR(c.iteration_time.difference->fraction, 0.25, 1e-9);
  EXPECT_NEAR(*c.iteration_energy_delay.a, 200, 1e-9);
  EXPECT_NEAR(*c.iteration_energy_delay.b, 187.5, 1e-9);
  EXPECT_TRUE(c.settled_a.empty());
  EXPECT_EQ(c.settled_b.power_limit, 150_W);
}

TEST(Compare, TakesWholeRunsWithStartAndSearch) {
  const Comparison c = compared(measured(), held());
  EXPECT_NEAR(*c.time.a, 100, 1e-9);
  EXPECT_NEAR(*c.time.b, 120, 1e-9);
  EXPECT_NEAR(c.time.difference->fraction, 0.2, 1e-9);
  EXPECT_EQ(c.time.difference->range, Range::none) << "one run tells nothing of how its time scatters";
  EXPECT_FALSE(c.time.difference->distinguishable);
  EXPECT_NEAR(*c.energy.a, 20'000, 1e-6);
  EXPECT_NEAR(*c.energy.b, 16'000, 1e-6);
  EXPECT_NEAR(*c.mean_power.a, 200, 1e-9);
  EXPECT_NEAR(*c.energy_delay.b, 16'000.0 * 120, 1e-3);
}

TEST(Compare, OnOneSensorLeavesItsCalibrationOut) {
  const Comparison c = compared(measured(), held());
  const Difference& energy = *c.energy.difference;
  EXPECT_EQ(energy.range, Range::sensor_bands);
  // 2 J of sampling error on each side: 15998/20002 to 16002/19998.
  EXPECT_NEAR(energy.interval->low, 15'998.0 / 20'002 - 1, 1e-9);
  EXPECT_NEAR(energy.interval->high, 16'002.0 / 19'998 - 1, 1e-9);
  EXPECT_EQ(energy.distinguishable, true);
}

TEST(Compare, OnTwoSensorsCountsTheCalibrationOfBoth) {
  record::RunRecord other = held();
  other.devices[0].info.identity.id.uuid = "GPU-other";
  other.end->devices[0].gpu.uuid = "GPU-other";
  for (auto& block : other.blocks) block.gpu.uuid = "GPU-other";
  const Comparison c = compared(measured(), other);
  EXPECT_THAT(c, has_warning("different_sensor"));
  // 5 % and 5 % on top of the quotient 0.8.
  EXPECT_NEAR(c.energy.difference->interval->high, 0.8 * 1.05 / 0.95 - 1, 1e-3);
  const Difference& each = *c.iteration_energy.difference;
  EXPECT_NEAR(each.interval->high, 0.75 * 1.05 / 0.95 - 1, 1e-3);
  EXPECT_EQ(each.distinguishable, true) << "a quarter is more than both gains";
}

// 200 W as the board reads them, and what a gain of 0.95 makes of them.
TEST(Compare, ACalibrationBetweenTheRunsIsNoDifferenceOfTheRuns) {
  record::RunRecord calibrated = measured(1_s, 200_W / 0.95);
  SensorFacts& sensor = calibrated.devices[0].info.sensor;
  sensor.gain = 0.95;
  sensor.calibrated_by = "calibrated against snmp:rack on 2026-11-21";
  for (FastReading& reading : calibrated.devices[0].fast) {
    *reading.power *= 0.95;
    *reading.energy_counter *= 0.95;
  }
  const Comparison c = compared(measured(), calibrated);
  EXPECT_THAT(c, differs_in("calibration", "none", "gain 0.95, calibrated against snmp:rack on 2026-11-21"));
  EXPECT_THAT(c.warnings, Contains(AllOf(Field(&Warning::code, "different_calibration"),
                                         Field(&Warning::sentence, HasSubstr("5.3 % higher")))));
  EXPECT_THAT(c, Not(has_warning("different_sensor")));
  EXPECT_NEAR(c.energy.difference->fraction, 1 / 0.95 - 1, 1e-9);
  EXPECT_EQ(c.energy.difference->distinguishable, false);
  EXPECT_EQ(c.iteration_energy.difference->distinguishable, false);
  EXPECT_THAT(compared(calibrated, measured()).warnings,
              Contains(Field(&Warning::sentence, HasSubstr("5 % lower"))));
  EXPECT_THAT(compared(calibrated, calibrated), Not(has_warning("different_calibration")));
}

TEST(Compare, SaysHowMuchAnOffsetIsWorth) {
  record::RunRecord a = measured();
  record::RunRecord b = measured();
  a.devices[0].info.sensor.gain = b.devices[0].info.sensor.gain = 1.02;
  b.devices[0].info.sensor.offset = 4_W;
  const Comparison c = compared(a, b);
  EXPECT_THAT(c, differs_in("calibration", "gain 1.02", "gain 1.02, offset 4 W"));
  EXPECT_THAT(c.warnings, Contains(Field(&Warning::sentence, HasSubstr("2 % lower"))));
}

TEST(Compare, BelowTwoStandardErrorsIsNotDistinguishable) {
  const Comparison same = compared(measured(1_s, 200_W, 100, 0.02), measured(1_s, 200.1_W, 100, 0.02));
  EXPECT_EQ(same.iteration_energy.difference->distinguishable, false);
  const Comparison other = compared(measured(1_s, 200_W, 100, 0.02), measured(1_s, 190_W, 100, 0.02));
  EXPECT_EQ(other.iteration_energy.difference->distinguishable, true);
  // 3 J of 20 000 J lie inside 2 J + 2 J.
  EXPECT_EQ(compared(measured(1_s, 200_W), measured(1_s, 200.03_W)).energy.difference->distinguishable,
            false);
}

// Blocks of one iteration, so that the scatter is exactly what is drawn here.
record::RunRecord drawn(Random& random, Watts mean) {
  MadeRun made;
  for (int i = 0; i < 40; ++i) made.block(BlockRole::baseline, 1, 1_s, mean * (1 + 0.05 * random.normal()));
  return made.ended();
}

TEST(Compare, CallsEqualRunsDifferentInAtMostOneOfTwenty) {
  Random random(7);
  int different = 0;
  for (int i = 0; i < 400; ++i) {
    const auto a = drawn(random, 200_W);
    const auto b = drawn(random, 200_W);
    different += compared(a, b).iteration_energy.difference->distinguishable.value() ? 1 : 0;
  }
  EXPECT_LE(different, 20 + 9) << "5 % of 400, and two standard deviations of that count";
}

TEST(Compare, FindsADifferenceOfFourStandardErrors) {
  Random random(7);
  int found = 0;
  // 5 % over the square root of 40, on both sides: 1.12 %.
  for (int i = 0; i < 100; ++i) {
    const auto a = drawn(random, 200_W);
    const auto b = drawn(random, 191_W);
    found += compared(a, b).iteration_energy.difference->distinguishable.value() ? 1 : 0;
  }
  EXPECT_GE(found, 94);
}

TEST(Compare, OfDifferentNumbersOfIterationsIsPerIterationOnly) {
  const Comparison c = compared(measured(), held(1.25_s, 120_W, 60));
  EXPECT_THAT(c, has_warning("different_iterations"));
  EXPECT_FALSE(c.time.difference);
  EXPECT_FALSE(c.energy.difference);
  EXPECT_THAT(c.energy.why_no_difference, HasSubstr("same number of iterations"));
  EXPECT_TRUE(c.mean_power.difference) << "watts need no equal work";
  EXPECT_TRUE(c.iteration_energy.difference);
}

TEST(Compare, OfARunCutShortIsPerIterationOnly) {
  record::RunRecord cut = held();
  cut.end.reset();
  const Comparison c = compared(measured(), cut);
  EXPECT_THAT(c, has_warning("cut_short"));
  EXPECT_FALSE(c.energy.difference);
  EXPECT_TRUE(c.iteration_energy.difference);
  const Summary summary = summarise(cut);
  const record::RunRecord whole = measured();
  const Summary of_whole = summarise(whole);
  EXPECT_THAT(compare({whole, of_whole}, {cut, summary, true}), has_warning("still_running"));
}

TEST(Compare, SaysWhatMakesItUnsound) {
  EXPECT_THAT(compared(measured(), held()).warnings, testing::IsEmpty());
  EXPECT_THAT(compared(measured(1_s, 200_W, 100, 0, Kind::measured), held()), has_warning("different_kind"));

  record::RunRecord other = held();
  other.info.command = {"python", "other.py"};
  EXPECT_THAT(
      compared(measured(), other),
      AllOf(has_warning("different_command"), differs_in("command", "python train.py", "python other.py")));
  other = held();
  other.devices[0].info.identity.name = "NVIDIA H100";
  EXPECT_THAT(compared(measured(), other), has_warning("different_gpu_model"));
  other = held();
  other.end->exit_code = 3;
  EXPECT_THAT(compared(measured(), other), has_warning("job_failed"));
  other = held();
  other.setting_changes.push_back(
      {.at = kBegin, .gpu = other.devices[0].info.identity.id, .who = "someone else"});
  EXPECT_THAT(compared(measured(), other), has_warning("someone_else_changed_a_setting"));
  EXPECT_THAT(compared(held(), held()), has_warning("same_run"));
}

TEST(Compare, WarnsWhereTemperaturesAreFiveDegreesApart) {
  record::RunRecord cool = measured();
  record::RunRecord warm = held();
  cool.devices[0].slow.push_back({.at = kBegin, .temperature = Celsius(60)});
  warm.devices[0].slow.push_back({.at = kBegin, .temperature = Celsius(64)});
  EXPECT_THAT(compared(cool, warm), Not(has_warning("temperatures_apart")));
  warm.devices[0].slow[0].temperature = Celsius(65);
  EXPECT_THAT(compared(cool, warm), has_warning("temperatures_apart"));
}

TEST(Compare, WithoutIterationsTakesEqualWorkForGrantedAndSaysSo) {
  MadeRun a, b;
  a.idle(BlockRole::baseline, 100_s, 200_W);
  b.idle(BlockRole::baseline, 100_s, 150_W);
  const Comparison c = compared(a.ended(), b.ended());
  EXPECT_THAT(c, has_warning("iterations_unknown"));
  EXPECT_NEAR(c.energy.difference->fraction, -0.25, 1e-9);
  EXPECT_FALSE(c.iteration_energy.difference);
  EXPECT_THAT(c.iteration_energy.why_no_difference, HasSubstr("no iterations were seen"));
}

TEST(Compare, WithoutEnergyStillComparesTimes) {
  record::RunRecord blind = held();
  for (auto& device : blind.end->devices) device.energy.reset();
  for (auto& device : blind.devices) device.fast.clear();
  for (auto& block : blind.blocks) block.energy.reset();
  const Comparison c = compared(measured(), blind);
  EXPECT_FALSE(c.energy.b);
  EXPECT_FALSE(c.energy.difference);
  EXPECT_TRUE(c.time.difference);
}

}  // namespace
}  // namespace rubato::analyse
