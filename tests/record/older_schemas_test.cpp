// Records of older schemas are read: what they did not know is absent.
#include <gmock/gmock.h>

#include "record/reader.h"
#include "record/sqlite.h"
#include "sample_run.h"

namespace rubato::record {
namespace {

using namespace testing_data;
using testing::IsEmpty;
using testing::SizeIs;

std::filesystem::path changed_by(const std::filesystem::path& file, const char* sql) {
  sqlite3* raw = nullptr;
  EXPECT_EQ(sqlite3_open(file.c_str(), &raw), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(raw, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(raw);
  sqlite3_close(raw);
  return file;
}

// Version 3 (rubato 0.3) is version 4 without what tells of the iteration, and without a gap's channel.
constexpr const char* kAsVersion3 =
    "UPDATE schema_version SET version=3; ALTER TABLE iteration DROP COLUMN source;"
    "ALTER TABLE gap DROP COLUMN channel_id; DROP TABLE iteration_statement;"
    "DROP TABLE progress_rate; DROP TABLE shift; DROP TABLE feature;"
    "DROP TABLE feature_window; ALTER TABLE device DROP COLUMN sensor_counter_sees_all";

TEST(RecordOfSchema3, IsStillRead) {
  const Folder folder;
  auto writer = Writer::create(folder.path(), run_info());
  ASSERT_TRUE(writer);
  Writer& w = **writer;
  w.channel({"snmp:rack", {.name = "outlet-7", .scope = Scope::node}});
  w.iteration({7, kBegin, kBegin + 1_s, ProgressSource::telemetry});
  w.gap({kBegin + 1_s, kBegin + 2_s, std::nullopt, "meter snmp:rack told nothing"});
  w.gap({kBegin + 2_s, kBegin + 3_s, std::nullopt, "rubato was stopped"});
  const auto file = w.finish(run_end());
  ASSERT_TRUE(file);

  const auto run = read_run(changed_by(*file, kAsVersion3));
  ASSERT_TRUE(run) << run.error().what;
  ASSERT_THAT(run->iterations, SizeIs(1));
  EXPECT_EQ(run->iterations[0].index, 7);
  EXPECT_EQ(run->iterations[0].source, ProgressSource::marks) << "there was no other then";
  EXPECT_THAT(run->statements, IsEmpty());
  EXPECT_THAT(run->features, IsEmpty());
  ASSERT_THAT(run->gaps, SizeIs(2));
  EXPECT_EQ(run->gaps[0].channel, 0U) << "the words tell whose gap it was";
  EXPECT_FALSE(run->gaps[1].channel);
}

TEST(RecordOfSchema6, HasNoCounterThatWasMeasuredToSeeEverything) {
  const Folder folder;
  auto writer = Writer::create(folder.path(), run_info());
  ASSERT_TRUE(writer);
  DeviceInfo device = device_info();
  device.sensor.counter_sees_all = true;
  (*writer)->device(device);
  const auto file = (*writer)->finish(run_end());
  ASSERT_TRUE(file);

  const auto run = read_run(changed_by(*file,
                                       "UPDATE schema_version SET version=6;"
                                       "ALTER TABLE device DROP COLUMN sensor_counter_sees_all"));
  ASSERT_TRUE(run) << run.error().what;
  ASSERT_THAT(run->devices, SizeIs(1));
  EXPECT_FALSE(run->devices[0].info.sensor.counter_sees_all);
  EXPECT_EQ(run->devices[0].info.sensor.calibration_band, device.sensor.calibration_band);
}

}  // namespace
}  // namespace rubato::record
