#include "experiment/advise/measured_default.h"

#include <gmock/gmock.h>

namespace rubato::experiment {
namespace {

using testing::HasSubstr;

const GpuId kFirst{"GPU-1"};
const GpuId kSecond{"GPU-2"};

TimePoint at(double seconds) {
  return TimePoint() + Seconds(seconds);
}

record::DeviceRecord device(const GpuId& id, std::string name = "Tesla V100-PCIE-16GB") {
  record::DeviceRecord out;
  out.info.identity.id = id;
  out.info.identity.name = std::move(name);
  out.info.kind = Kind::modelled;
  out.info.found = PowerLimits{100_W, 250_W, 250_W, 200_W, 200_W};
  return out;
}

record::Block block(const GpuId& id, BlockRole role, double begin, double end, int iterations,
                    Joules energy) {
  record::Block out{
      .role = role, .gpu = id, .setting = {}, .begin = at(begin), .end = at(end), .iterations = iterations};
  out.energy.emplace();
  out.energy->begin = out.begin;
  out.energy->end = out.end;
  out.energy->energy = energy;
  return out;
}

record::RunRecord run_of(std::vector<record::DeviceRecord> devices) {
  record::RunRecord out;
  out.devices = std::move(devices);
  return out;
}

record::RunRecord whole_run(double seconds, Joules energy) {
  auto run = run_of({device(kFirst)});
  run.end.emplace();
  record::DeviceEnd end{.gpu = kFirst, .energy = {}, .found = {}, .requested = {}};
  end.energy.emplace();
  end.energy->begin = at(0);
  end.energy->end = at(seconds);
  end.energy->energy = energy;
  run.end->devices = {end};
  return run;
}

TEST(MeasuredDefault, IsTheMeanOfIterationsOutsideTheWarmUp) {
  auto run = run_of({device(kFirst)});
  run.blocks = {block(kFirst, BlockRole::warmup, 0, 10, 1, 5000_J),
                block(kFirst, BlockRole::baseline, 10, 12, 4, 400_J),
                block(kFirst, BlockRole::baseline, 12, 16, 4, 800_J)};
  const auto measured = measured_default(run);
  ASSERT_TRUE(measured) << measured.error().what;
  EXPECT_EQ(measured->iterations, 8);
  EXPECT_EQ(measured->known.at_default.time, 0.75_s);
  EXPECT_EQ(measured->known.at_default.energy, 150_J);
  EXPECT_EQ(measured->known.at_default.at.power_limit, 200_W);
  EXPECT_EQ(measured->known.highest.power_limit, 250_W);
  EXPECT_EQ(measured->kind, Kind::modelled);
}

TEST(MeasuredDefault, OfSeveralGpusIsTheMeanOfOne) {
  auto run = run_of({device(kFirst), device(kSecond)});
  run.blocks = {block(kFirst, BlockRole::baseline, 0, 4, 4, 400_J),
                block(kSecond, BlockRole::baseline, 0, 4, 4, 600_J)};
  const auto measured = measured_default(run);
  ASSERT_TRUE(measured) << measured.error().what;
  EXPECT_EQ(measured->known.at_default.time, 1_s);
  EXPECT_EQ(measured->known.at_default.energy, 125_J);
  EXPECT_EQ(measured->gpus.size(), 2U);
}

TEST(MeasuredDefault, WithoutIterationsIsTheWholeRun) {
  const auto run = whole_run(20, 3000_J);
  const auto measured = measured_default(run);
  ASSERT_TRUE(measured) << measured.error().what;
  EXPECT_EQ(measured->iterations, 0);
  EXPECT_EQ(measured->known.at_default.power(), 150_W);
}

TEST(MeasuredDefault, AWholeRunThatFailedOrWasShortTellsTooLittle) {
  auto run = whole_run(0.5, 30_J);
  EXPECT_THAT(measured_default(run).error().what, HasSubstr("too short for a sensor"));
  run.end->devices[0].energy->end = at(20);
  run.end->exit_code = 3;
  EXPECT_THAT(measured_default(run).error().what, HasSubstr("failed (exit status 3)"));
  run.blocks = {block(kFirst, BlockRole::baseline, 0, 4, 4, 400_J)};
  EXPECT_TRUE(measured_default(run)) << "its iterations tell what one takes";
}

TEST(MeasuredDefault, CountersAreMeansOverWindowsAtTheFoundSetting) {
  auto run = run_of({device(kFirst)});
  run.blocks = {block(kFirst, BlockRole::baseline, 0, 4, 4, 400_J)};
  for (const double active : {0.2, 0.4}) {
    record::FeatureWindow window{
        .gpu = kFirst, .provider = "simulated", .features = {}, .setting = {}, .why = {}};
    window.features[Feature::dram_active] = active;
    run.features.push_back(window);
  }
  run.features.push_back(run.features.back());
  run.features.back().setting.power_limit = 100_W;
  run.features.back().features[Feature::dram_active] = 0.9;
  const auto measured = measured_default(run);
  ASSERT_TRUE(measured);
  ASSERT_EQ(measured->known.features.size(), 1U);
  EXPECT_NEAR(measured->known.features.at("dram_active"), 0.3, 1e-12);
}

TEST(MeasuredAt, IsOfTheStretchesInWhichTheSettingWasInForce) {
  auto run = run_of({device(kFirst)});
  run.blocks = {block(kFirst, BlockRole::baseline, 0, 4, 4, 400_J),
                block(kFirst, BlockRole::hold, 4, 9, 4, 320_J)};
  run.blocks.back().setting.power_limit = 150_W;
  MeasuredDefault by_default;
  by_default.iterations = 4;
  const auto probe = measured_at(run, {.power_limit = 150_W}, by_default);
  ASSERT_TRUE(probe) << probe.error().what;
  EXPECT_EQ(probe->time, 1.25_s);
  EXPECT_EQ(probe->energy, 80_J);
  EXPECT_EQ(probe->at.power_limit, 150_W);
  run.blocks.pop_back();
  EXPECT_EQ(measured_at(run, {.power_limit = 150_W}, by_default).error().code, ErrorCode::unavailable);
}

// Without iterations: the run as a whole, 100 seconds of it.
record::RunRecord whole_run() {
  auto run = run_of({device(kFirst)});
  record::DeviceEnd end;
  end.gpu = kFirst;
  end.energy.emplace();
  end.energy->begin = at(0);
  end.energy->end = at(100);
  end.energy->energy = 9000_J;
  run.end.emplace();
  run.end->devices.push_back(end);
  return run;
}

record::SettingChange change(double seconds, Setting asked, std::string outcome) {
  return {.at = at(seconds),
          .gpu = kFirst,
          .who = "rubato",
          .asked = std::move(asked),
          .requested = {},
          .enforced = {},
          .reached_sm_clock = {},
          .outcome = std::move(outcome)};
}

TEST(MeasuredAt, AWholeRunTellsOfASettingThatWasInForceAllTheTime) {
  auto run = whole_run();
  run.setting_changes = {change(2, {.power_limit = 150_W}, "applied"), change(101, {}, "restored")};
  const auto probe = measured_at(run, {.power_limit = 150_W}, MeasuredDefault());
  ASSERT_TRUE(probe) << probe.error().what;
  EXPECT_EQ(probe->time, 100_s);
  EXPECT_EQ(probe->energy, 9000_J);
}

TEST(MeasuredAt, AWholeRunDoesNotTellOfASettingThatWasInForceForAPartOfIt) {
  auto run = whole_run();
  EXPECT_EQ(measured_at(run, {.power_limit = 150_W}, MeasuredDefault()).error().code, ErrorCode::unavailable);
  run.setting_changes = {change(33, {.power_limit = 150_W}, "applied"), change(101, {}, "restored")};
  EXPECT_THAT(measured_at(run, {.power_limit = 150_W}, MeasuredDefault()).error().what,
              HasSubstr("in force in 67 %"));
  run.setting_changes.front().outcome = "refused: no permission";
  EXPECT_EQ(measured_at(run, {.power_limit = 150_W}, MeasuredDefault()).error().code, ErrorCode::unavailable);
}

TEST(MeasuredDefault, ARunThatCannotTellIsRefusedWithItsReason) {
  EXPECT_THAT(measured_default(run_of({})).error().what, HasSubstr("no GPU was measured"));
  EXPECT_THAT(measured_default(run_of({device(kFirst)})).error().what, HasSubstr("could not be read"));
  EXPECT_THAT(measured_default(run_of({device(kFirst), device(kSecond, "Tesla T4")})).error().what,
              HasSubstr("boards of several kinds"));
  auto changed = run_of({device(kFirst)});
  changed.setting_changes.push_back(
      {.at = at(1), .gpu = kFirst, .who = "rubato", .asked = {}, .requested = {}});
  changed.setting_changes.back().outcome = "applied";
  EXPECT_EQ(measured_default(changed).error().code, ErrorCode::conflict);
}

}  // namespace
}  // namespace rubato::experiment
