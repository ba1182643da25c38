#include "experiment/calibrate/point.h"

#include <gmock/gmock.h>

namespace rubato::experiment {
namespace {

using predict::KnobPoint;

constexpr TimePoint at(double seconds) {
  return TimePoint{static_cast<std::int64_t>(seconds * 1e9)};
}

record::Block block(BlockRole role, double begin, double end, std::int64_t units, double joules) {
  record::Block out{.role = role, .begin = at(begin), .end = at(end), .iterations = units};
  out.energy = EnergyWindow{};
  out.energy->energy = Joules(joules);
  return out;
}

/// Warm-up, 10 s at the found setting at 100 W, 20 s at 600 MHz at 60 W; each 100 units.
record::RunRecord run_at_600() {
  record::RunRecord run;
  run.info.run_id = "r1";
  run.devices.emplace_back();
  for (int i = 0; i < 40; ++i) {
    SlowReading reading;
    reading.at = at(i);
    reading.sm_utilisation = 1.0;
    reading.sm_clock = Megahertz(i < 15 ? 1200 : 600);
    run.devices.front().slow.push_back(reading);
  }
  run.blocks = {block(BlockRole::warmup, 0, 5, 80, 100), block(BlockRole::baseline, 5, 10, 50, 500),
                block(BlockRole::baseline, 10, 15, 50, 500), block(BlockRole::hold, 16, 36, 100, 1200)};
  record::FeatureWindow counted;
  counted.features[Feature::dram_active] = 0.5;
  run.features.push_back(counted);
  counted.setting.power_limit = Watts(100);
  counted.features[Feature::dram_active] = 0.9;
  run.features.push_back(counted);
  return run;
}

TEST(CalibrationPoint, ComparesTheSettingWithTheFoundOneOfTheSameRun) {
  const auto p = point_of(run_at_600(), "fp32", {.sm_clock = Megahertz(600)});
  ASSERT_TRUE(p) << p.error().what;
  EXPECT_DOUBLE_EQ(p->at_default.time.value(), 0.1);
  EXPECT_DOUBLE_EQ(p->at_default.energy.value(), 10);
  EXPECT_EQ(p->at_default.units, 100);
  ASSERT_TRUE(p->at_setting) << p->not_used;
  EXPECT_DOUBLE_EQ(p->at_setting->time.value(), 0.2);
  EXPECT_DOUBLE_EQ(p->at_setting->energy.value(), 12);
  EXPECT_EQ(p->reached.sm_clock, Megahertz(600));
  EXPECT_EQ(p->features, (std::map<std::string, double>{{"dram_active", 0.5}}))
      << "at the found setting only";
}

TEST(CalibrationPoint, ASettingThatDidNotTakeIsNotUsed) {
  const auto p = point_of(run_at_600(), "fp32", {.sm_clock = Megahertz(900)});
  ASSERT_TRUE(p);
  EXPECT_FALSE(p->at_setting);
  EXPECT_THAT(p->not_used, ::testing::HasSubstr("600 MHz"));
}

TEST(CalibrationPoint, ASettingThatWasNeverHeldSaysWhatTheRunSaid) {
  auto run = run_at_600();
  run.blocks.pop_back();
  run.decisions.push_back({.why = "rubato may not set anything here now"});
  const auto p = point_of(run, "fp32", {.sm_clock = Megahertz(600)});
  ASSERT_TRUE(p);
  EXPECT_FALSE(p->at_setting);
  EXPECT_THAT(p->not_used, ::testing::HasSubstr("may not set"));
}

TEST(CalibrationPoint, WithoutABaselineThereIsNothingToTell) {
  record::RunRecord run;
  EXPECT_EQ(point_of(run, "fp32", {}).error().code, ErrorCode::unavailable);
  run.devices.emplace_back();
  run.blocks = {block(BlockRole::warmup, 0, 5, 80, 100)};
  EXPECT_EQ(point_of(run, "fp32", {}).error().code, ErrorCode::unavailable);
  run.blocks = {block(BlockRole::baseline, 0, 5, 0, 100)};
  EXPECT_EQ(point_of(run, "fp32", {}).error().code, ErrorCode::unavailable) << "no unit ended";
}

TEST(CalibrationPoint, ARunInWhichTheSameWorkTookAnotherTimeIsNotUsed) {
  auto run = run_at_600();
  run.blocks[2].iterations = 40;  // 0.125 s each, after 0.1 s
  const auto p = point_of(run, "fp32", {.sm_clock = Megahertz(600)});
  ASSERT_TRUE(p);
  EXPECT_THAT(p->disturbed, ::testing::HasSubstr("15.7 %"));
  EXPECT_FALSE(p->at_setting);
  EXPECT_EQ(p->not_used, p->disturbed);
}

TEST(CalibrationPoint, ARunWhoseReadingsAreMissingIsNotUsed) {
  auto run = run_at_600();
  run.blocks[3].energy->band_sampling = Joules(48);
  EXPECT_TRUE(point_of(run, "fp32", {.sm_clock = Megahertz(600)})->at_setting) << "4 % of 1200 J";
  run.blocks[3].energy->band_sampling = Joules(72);
  const auto p = point_of(run, "fp32", {.sm_clock = Megahertz(600)});
  EXPECT_FALSE(p->at_setting);
  EXPECT_THAT(p->disturbed, ::testing::HasSubstr("6 % only"));
}

TEST(CalibrationPoint, AMeasuredRunAloneIsTheDefault) {
  auto run = run_at_600();
  run.blocks.pop_back();
  const auto p = point_of(run, "fp32", {});
  ASSERT_TRUE(p);
  EXPECT_FALSE(p->at_setting);
  EXPECT_TRUE(p->not_used.empty());
}

}  // namespace
}  // namespace rubato::experiment
