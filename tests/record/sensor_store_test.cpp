#include "record/sensor_store.h"

#include <gmock/gmock.h>

#include <fstream>

#include "sample_run.h"

namespace rubato::record {
namespace {

using namespace testing_data;
using testing::HasSubstr;

FoundSensor found() {
  return {.gpu = kGpu,
          .driver_version = "550.1",
          .update_period = 100_ms,
          .averaging_window = 1_s,
          .counter_period = std::nullopt,
          .how = "9 changes of the reading",
          .found_on = "2026-11-21",
          .samples = 200};
}

TEST(SensorStore, GivesBackWhatWasKeptAndUnknownStaysUnknown) {
  const Folder folder;
  const auto sensors = folder.path() / "sensors";
  ASSERT_TRUE(save_sensor_facts(sensors, found()));
  const auto read = load_sensor_facts(sensors, kGpu, "550.1");
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(read->update_period, 100_ms);
  EXPECT_EQ(read->averaging_window, 1_s);
  EXPECT_FALSE(read->counter_period);
  EXPECT_EQ(read->samples, 200U);
  EXPECT_EQ(read->how, "9 changes of the reading");
}

TEST(SensorStore, AnotherDriverVoidsIt) {
  const Folder folder;
  ASSERT_TRUE(save_sensor_facts(folder.path(), found()));
  const auto read = load_sensor_facts(folder.path(), kGpu, "560.0");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::not_found);
  EXPECT_THAT(read.error().what, HasSubstr("550.1"));
}

TEST(SensorStore, AnotherGpuKnowsNothing) {
  const Folder folder;
  ASSERT_TRUE(save_sensor_facts(folder.path(), found()));
  EXPECT_EQ(load_sensor_facts(folder.path(), {"GPU-other"}, "550.1").error().code, ErrorCode::not_found);
}

TEST(SensorStore, AUuidLeadsNowhereElse) {
  const Folder folder;
  FoundSensor odd = found();
  odd.gpu.uuid = "../../GPU/x";
  ASSERT_TRUE(save_sensor_facts(folder.path() / "sensors", odd));
  EXPECT_TRUE(load_sensor_facts(folder.path() / "sensors", odd.gpu, "550.1"));
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path()))
    if (entry.is_regular_file()) {
      ++files;
      EXPECT_EQ(entry.path().parent_path(), folder.path() / "sensors");
    }
  EXPECT_EQ(files, 1);
}

TEST(SensorStore, DamageIsNamedAndImpossibleValuesAreUnknown) {
  const Folder folder;
  const auto write = [&](const std::string& text) { std::ofstream(folder.path() / "GPU-5100.json") << text; };
  for (const char* text : {"", "{", "[1]", "7", R"({"schema":"rubato.sensor/9","uuid":"GPU-5100"})",
                           R"({"schema":"rubato.sensor/1","uuid":"GPU-other"})"}) {
    write(text);
    EXPECT_EQ(load_sensor_facts(folder.path(), kGpu, "550.1").error().code, ErrorCode::corrupt) << text;
  }
  write(R"({"schema":"rubato.sensor/1","uuid":"GPU-5100","driver_version":"550.1",
            "update_period_s":-1,"averaging_window_s":1e9,"counter_period_s":"x","samples":-4})");
  const auto read = load_sensor_facts(folder.path(), kGpu, "550.1");
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->update_period);
  EXPECT_FALSE(read->averaging_window);
  EXPECT_FALSE(read->counter_period);
}

TEST(SensorStore, WhatWasFoundReplacesTheTableAndSaysSo) {
  const SensorFacts table{.update_period = 20_ms, .counter_period = 50_ms, .source = "a table"};
  const SensorFacts facts = with_found(table, found());
  EXPECT_EQ(facts.update_period, 100_ms);
  EXPECT_EQ(facts.counter_period, 50_ms);
  EXPECT_THAT(facts.source, HasSubstr("update period 0.1 s, averaging window 1 s found on this GPU"));
  EXPECT_THAT(facts.source, HasSubstr("550.1"));
  EXPECT_THAT(facts.source, HasSubstr("a table"));
  FoundSensor nothing = found();
  nothing.update_period = nothing.averaging_window = std::nullopt;
  EXPECT_EQ(with_found(table, nothing).source, "a table");
}

TEST(SensorStore, KeepsAGainAndOldFilesHaveNone) {
  const Folder folder;
  FoundSensor found{.gpu = {"GPU-1"}, .driver_version = "550.1"};
  found.calibration = FoundGain{0.95, std::nullopt, 0.02, "snmp:rack, outlet-7", "2026-11-21"};
  ASSERT_TRUE(save_sensor_facts(folder.path(), found));
  const auto read = load_sensor_facts(folder.path(), {"GPU-1"}, "550.1");
  ASSERT_TRUE(read) << read.error().what;
  ASSERT_TRUE(read->calibration);
  EXPECT_EQ(read->calibration->gain, 0.95);
  EXPECT_FALSE(read->calibration->offset);
  const SensorFacts facts = with_found({.source = "a table"}, *read);
  EXPECT_EQ(facts.gain, 0.95);
  EXPECT_EQ(facts.calibration_band, 0.02);
  EXPECT_EQ(facts.calibrated_by, "calibrated against snmp:rack, outlet-7 on 2026-11-21");
  EXPECT_EQ(facts.source, "a table");

  const auto write = [&](const char* text) { std::ofstream(folder.path() / "GPU-1.json") << text; };
  write(R"({"schema":"rubato.sensor/1","uuid":"GPU-1","driver_version":"550.1","update_period_s":0.1})");
  const auto old = load_sensor_facts(folder.path(), {"GPU-1"}, "550.1");
  ASSERT_TRUE(old) << old.error().what;
  EXPECT_EQ(old->update_period, 0.1_s);
  EXPECT_FALSE(old->calibration);
  write(R"({"schema":"rubato.sensor/2","uuid":"GPU-1","driver_version":"550.1",
            "calibration":{"gain":1e9,"band_fraction":0.01}})");
  EXPECT_FALSE(load_sensor_facts(folder.path(), {"GPU-1"}, "550.1")->calibration)
      << "no board is that far off";
}

}  // namespace
}  // namespace rubato::record
