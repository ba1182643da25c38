// A record as rubato 0.1 wrote it (schema version 1), made here by SQL: plain rows for the open second,
// chunks of layout 1.
#include <gtest/gtest.h>
#include <zstd.h>

#include <bit>

#include "record/reader.h"
#include "record/sqlite.h"
#include "sample_run.h"

namespace rubato::record {
namespace {

using namespace testing_data;

constexpr const char* kTables = R"(
PRAGMA application_id=1919054959;
CREATE TABLE schema_version(version INTEGER NOT NULL);
INSERT INTO schema_version VALUES(1);
CREATE TABLE run(run_id TEXT, mode TEXT, command BLOB, working_directory TEXT, host TEXT, rubato_version TEXT,
  boot_id TEXT, started_at TEXT, begin_ns INTEGER, clock_rate REAL);
CREATE TABLE run_end(end_ns INTEGER, exit_code INTEGER, exit_signal INTEGER, driver_calls INTEGER,
  driver_inside_s REAL, cpu_s REAL, bytes_written INTEGER, ticks INTEGER);
CREATE TABLE device(id INTEGER PRIMARY KEY, uuid TEXT UNIQUE, name TEXT, driver_index INTEGER, pci_bus_id TEXT,
  kind TEXT, backend TEXT, driver_version TEXT, sensor_update_period_s REAL, sensor_averaging_window_s REAL,
  sensor_counter_period_s REAL, sensor_calibration_band_fraction REAL, sensor_source TEXT, limit_min_w REAL,
  limit_max_w REAL, limit_default_w REAL, limit_requested_w REAL, limit_enforced_w REAL);
CREATE TABLE device_end(device_id INTEGER, energy_begin_ns INTEGER, energy_end_ns INTEGER, energy_j REAL,
  band_sampling_j REAL, band_calibration_j REAL, source_id INTEGER, found_known INTEGER,
  found_power_limit_w REAL, found_sm_clock_min_mhz REAL, found_sm_clock_max_mhz REAL,
  found_memory_clock_min_mhz REAL, found_memory_clock_max_mhz REAL, found_application_memory_mhz REAL,
  found_application_sm_mhz REAL, requested_known INTEGER, requested_power_limit_w REAL,
  requested_sm_clock_min_mhz REAL, requested_sm_clock_max_mhz REAL, requested_memory_clock_min_mhz REAL,
  requested_memory_clock_max_mhz REAL, requested_application_memory_mhz REAL, requested_application_sm_mhz REAL,
  restoration TEXT, restoration_detail TEXT);
CREATE TABLE source(id INTEGER PRIMARY KEY, device_id INTEGER, name TEXT, unit TEXT, scope TEXT, kind TEXT,
  quality TEXT);
CREATE TABLE setting_change(at_ns INTEGER, device_id INTEGER, who TEXT, asked_power_limit_w REAL,
  asked_sm_clock_min_mhz REAL, asked_sm_clock_max_mhz REAL, asked_memory_clock_min_mhz REAL,
  asked_memory_clock_max_mhz REAL, asked_application_memory_mhz REAL, asked_application_sm_mhz REAL,
  requested_power_limit_w REAL, requested_sm_clock_min_mhz REAL, requested_sm_clock_max_mhz REAL,
  requested_memory_clock_min_mhz REAL, requested_memory_clock_max_mhz REAL, requested_application_memory_mhz REAL,
  requested_application_sm_mhz REAL, enforced_w REAL, reached_sm_clock_mhz REAL, outcome TEXT);
CREATE TABLE sample_chunk(device_id INTEGER, kind TEXT, layout INTEGER, begin_ns INTEGER, end_ns INTEGER,
  samples INTEGER, data BLOB);
CREATE TABLE sample_open(device_id INTEGER, kind TEXT, at_ns INTEGER, power_w REAL, energy_counter_j REAL,
  sm_clock_mhz REAL, memory_clock_mhz REAL, sm_utilisation_fraction REAL, memory_utilisation_fraction REAL,
  temperature_c REAL, limiter_bits INTEGER, requested_limit_w REAL, enforced_limit_w REAL);
CREATE TABLE counter_edge(at_ns INTEGER, device_id INTEGER, counter_j REAL, was_reset INTEGER);
CREATE TABLE window(role TEXT, device_id INTEGER, power_limit_w REAL, sm_clock_min_mhz REAL,
  sm_clock_max_mhz REAL, memory_clock_min_mhz REAL, memory_clock_max_mhz REAL, application_memory_mhz REAL,
  application_sm_mhz REAL, begin_ns INTEGER, end_ns INTEGER, iterations INTEGER, energy_begin_ns INTEGER,
  energy_end_ns INTEGER, energy_j REAL, band_sampling_j REAL, band_calibration_j REAL, source_id INTEGER);
CREATE TABLE mark(at_ns INTEGER, kind INTEGER, flags INTEGER, mark_id INTEGER, pid INTEGER, tid INTEGER,
  rank INTEGER);
CREATE TABLE iteration(iteration INTEGER, begin_ns INTEGER, end_ns INTEGER);
CREATE TABLE decision(at_ns INTEGER, action TEXT, power_limit_w REAL, sm_clock_min_mhz REAL,
  sm_clock_max_mhz REAL, memory_clock_min_mhz REAL, memory_clock_max_mhz REAL, application_memory_mhz REAL,
  application_sm_mhz REAL, why TEXT);
CREATE TABLE gap(begin_ns INTEGER, end_ns INTEGER, device_id INTEGER, why TEXT);
INSERT INTO run VALUES('20261101-081500-000-0001','run',CAST('true' AS BLOB)||x'00','/','node1','0.1.0','b007',
  '2026-11-01T08:15:00Z',1000000000000,1.0);
INSERT INTO device VALUES(1,'GPU-5100','Tesla V100',0,'','measured','nvml','550.1',0.02,NULL,NULL,0.1,'a table',
  100,250,250,200,200);
INSERT INTO source VALUES(1,1,'energy_counter','J','gpu','measured','');
INSERT INTO sample_open VALUES(1,'fast',1000200000000,120.0,20.0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO sample_open VALUES(1,'slow',1000200000000,NULL,NULL,1380.0,877.0,0.9,0.4,60.0,2,200.0,190.0);
INSERT INTO decision VALUES(1000000000000,'hold',150.0,NULL,NULL,NULL,NULL,NULL,NULL,'asked for');
)";

void append(std::string& out, std::uint64_t value) {
  for (int shift = 0; shift < 64; shift += 8) out += static_cast<char>((value >> shift) & 0xff);
}

/// Layout 1: steps of time, then for each column a bitmap and a value for every sample.
std::string two_fast_samples() {
  std::string payload;
  append(payload, 0);
  append(payload, 100'000'000);
  payload += '\x03';
  append(payload, std::bit_cast<std::uint64_t>(100.0));
  append(payload, std::bit_cast<std::uint64_t>(110.0));
  payload += '\x02';
  append(payload, 0);
  append(payload, std::bit_cast<std::uint64_t>(10.0));
  std::string blob(ZSTD_compressBound(payload.size()), '\0');
  blob.resize(ZSTD_compress(blob.data(), blob.size(), payload.data(), payload.size(), 1));
  return blob;
}

std::filesystem::path old_record(const Folder& folder, const std::string& more) {
  const auto file = folder.path() / "20261101-081500-000-0001.sqlite";
  auto db = Database::open(file, Database::Mode::create);
  EXPECT_TRUE(db->execute(kTables)) << "the fixture's SQL";
  Statement chunk("INSERT INTO sample_chunk VALUES(1,'fast',1,1000000000000,1000100000000,2,?)");
  const std::string blob = two_fast_samples();
  EXPECT_TRUE(chunk.run(*db, std::vector<char>(blob.begin(), blob.end())));
  EXPECT_TRUE(db->execute(more));
  return file;
}

TEST(RecordOfSchema1, CutShortIsStillRead) {
  const Folder folder;
  const auto read = read_run(old_record(folder, ""));
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_FALSE(read->end);
  const DeviceRecord& device = read->devices.at(0);
  ASSERT_EQ(device.fast.size(), 3U);
  EXPECT_EQ(device.fast[0].power, 100_W);
  EXPECT_FALSE(device.fast[0].energy_counter);
  EXPECT_EQ(device.fast[1].at, TimePoint{1'000'100'000'000});
  EXPECT_EQ(device.fast[1].energy_counter, 10_J);
  EXPECT_EQ(device.fast[2].energy_counter, 20_J);
  EXPECT_FALSE(device.fast[2].module_power);
  ASSERT_EQ(device.slow.size(), 1U);
  EXPECT_EQ(device.slow[0].temperature, Celsius(60));
  EXPECT_EQ(device.slow[0].limiter, LimiterReasons{.power_cap = true});
  EXPECT_FALSE(device.slow[0].performance_state);
  EXPECT_FALSE(device.slow[0].limited.any());
  EXPECT_EQ(read->decisions.at(0).setting.power_limit, 150_W);
}

TEST(RecordOfSchema1, KeepsItsEnergyOfTheRun) {
  const Folder folder;
  const auto read = read_run(
      old_record(folder,
                 "INSERT INTO run_end VALUES(1030000000000,0,NULL,10,0.1,0.2,4096,30);"
                 "INSERT INTO device_end(device_id,energy_begin_ns,energy_end_ns,energy_j,band_sampling_j,"
                 "band_calibration_j,source_id,found_known,found_power_limit_w,requested_known,restoration,"
                 "restoration_detail) VALUES(1,1000000000000,1030000000000,3000.0,2.0,300.0,1,1,200.0,0,"
                 "'restored','');"));
  ASSERT_TRUE(read) << read.error().what;
  const DeviceEnd& device = read->end.value().devices.at(0);
  EXPECT_EQ(device.energy->energy, 3000_J);
  EXPECT_EQ(device.energy->source.scope, Scope::gpu);
  EXPECT_TRUE(device.other_scopes.empty());
  EXPECT_EQ(device.found->power_limit, 200_W);
  ASSERT_EQ(list_runs(folder.path())->size(), 1U);
}

// Version 2 (rubato 0.2) has no meters, names, kernels or details of marks.
TEST(RecordOfSchema2, IsStillRead) {
  const Folder folder;
  const auto read = read_run(
      old_record(folder,
                 "UPDATE schema_version SET version=2; DROP TABLE sample_open;"
                 "CREATE TABLE device_energy(device_id INTEGER, energy_begin_ns INTEGER, "
                 "energy_end_ns INTEGER, energy_j REAL, band_sampling_j REAL, band_calibration_j REAL, "
                 "source_id INTEGER);"
                 "INSERT INTO mark VALUES(1000000000000,1,0,42,5,6,-1);"
                 "INSERT INTO run_end VALUES(1030000000000,0,NULL,10,0.1,0.2,4096,30);"));
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(read->devices.at(0).fast.size(), 2U);
  EXPECT_FALSE(read->devices[0].info.sensor.gain);
  ASSERT_EQ(read->marks.size(), 1U);
  EXPECT_EQ(read->marks[0].id, 42U);
  EXPECT_EQ(read->marks[0].detail[0], 0U);
  EXPECT_TRUE(read->channels.empty());
  EXPECT_TRUE(read->end->channels.empty());
}

}  // namespace
}  // namespace rubato::record
