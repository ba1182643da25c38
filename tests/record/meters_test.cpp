// Channels of meters in a run record.
#include <gmock/gmock.h>

#include "record/reader.h"
#include "sample_run.h"

namespace rubato::record {
namespace {

using namespace testing_data;
using testing::SizeIs;

ChannelInfo package() {
  return {"rapl",
          {.name = "package-0",
           .scope = Scope::cpu_package,
           .inside = "psys",
           .place = "socket 0",
           .has_energy = true,
           .sensor = {.update_period = 1_ms, .calibration_band = 0.03, .source = "a manual"}}};
}
ChannelInfo outlet() {
  return {"snmp:rack", {.name = "outlet-7", .scope = Scope::node, .has_power = true}};
}

TEST(RecordOfMeters, GivesBackChannelsReadingsAndEnds) {
  const Folder folder;
  auto writer = Writer::create(folder.path(), run_info());
  ASSERT_TRUE(writer);
  Writer& w = **writer;
  w.channel(package());
  w.channel(outlet());
  for (int tenth = 0; tenth < 250; ++tenth) {
    const TimePoint at = kBegin + Seconds(0.1 * tenth);
    w.sample(0, FastReading{.at = at, .energy_counter = Joules(5.0 * tenth)});
    if (tenth % 10 == 0) w.sample(1, FastReading{.at = at, .power = 400_W});
    ASSERT_TRUE(w.step(at));
  }
  w.sample(2, FastReading{.at = kBegin, .power = 1_W});  // no such channel
  RunEnd end = run_end();
  ChannelEnd told{.channel = 0, .lag_quality = "energy only"};
  told.energy = energy(kBegin, kBegin + 30_s, 1250_J);
  told.energy->source.scope = Scope::cpu_package;
  end.channels = {told, {.channel = 1, .lag = 0.7_s, .lag_quality = "correlation 0.93"}};
  const auto file = w.finish(end);
  ASSERT_TRUE(file) << file.error().what;

  const auto read = read_run(*file);
  ASSERT_TRUE(read) << read.error().what;
  ASSERT_THAT(read->channels, SizeIs(2));
  const MeterChannel& first = read->channels[0].info.channel;
  EXPECT_EQ(read->channels[0].info.meter, "rapl");
  EXPECT_EQ(first.name, "package-0");
  EXPECT_EQ(first.scope, Scope::cpu_package);
  EXPECT_EQ(first.inside, "psys");
  EXPECT_EQ(first.place, "socket 0");
  EXPECT_TRUE(first.has_energy);
  EXPECT_FALSE(first.has_power);
  EXPECT_EQ(first.sensor.update_period, 1_ms);
  EXPECT_EQ(first.sensor.calibration_band, 0.03);
  EXPECT_EQ(first.sensor.source, "a manual");
  ASSERT_THAT(read->channels[0].readings, SizeIs(250));
  EXPECT_EQ(read->channels[0].readings[249].energy_counter, 1245_J);
  EXPECT_FALSE(read->channels[0].readings[249].power);
  ASSERT_THAT(read->channels[1].readings, SizeIs(25));
  EXPECT_EQ(read->channels[1].readings[3].power, 400_W);
  ASSERT_THAT(read->end->channels, SizeIs(2));
  EXPECT_EQ(read->end->channels[0].energy->energy, 1250_J);
  EXPECT_EQ(read->end->channels[0].energy->source.scope, Scope::cpu_package);
  EXPECT_FALSE(read->end->channels[0].lag);
  EXPECT_FALSE(read->end->channels[1].energy);
  EXPECT_EQ(read->end->channels[1].lag, 0.7_s);
  EXPECT_EQ(read->end->channels[1].lag_quality, "correlation 0.93");
  EXPECT_THAT(read->devices[0].sources, SizeIs(1)) << "a meter's source is no GPU's";
}

TEST(RecordOfMeters, IsLegalWithoutAnyGpu) {
  const Folder folder;
  auto writer = Writer::create(folder.path(), run_info());
  ASSERT_TRUE(writer);
  (*writer)->channel(package());
  (*writer)->sample(0, FastReading{.at = kBegin, .energy_counter = 1_J});
  const auto file = (*writer)->finish({.end = kBegin + 1_s, .exit_code = 0});
  ASSERT_TRUE(file);
  const auto read = read_run(*file);
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_TRUE(read->devices.empty());
  EXPECT_THAT(read->channels.at(0).readings, SizeIs(1));
}

TEST(RecordOfMeters, CutShortKeepsWhatWasRead) {
  const Folder folder;
  auto writer = Writer::create(folder.path(), run_info());
  ASSERT_TRUE(writer);
  (*writer)->channel(outlet());
  for (int second = 0; second < 15; ++second) {
    const TimePoint at = kBegin + Seconds(second);
    (*writer)->sample(0, FastReading{.at = at, .power = 400_W});
    ASSERT_TRUE((*writer)->step(at));
  }
  const auto read = read_run((*writer)->file());
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_FALSE(read->end);
  EXPECT_GE(read->channels.at(0).readings.size(), 14U);
}

TEST(RecordOfMeters, KeepsTheGainOfACalibratedBoard) {
  const Folder folder;
  auto writer = Writer::create(folder.path(), run_info());
  ASSERT_TRUE(writer);
  DeviceInfo device = device_info();
  device.sensor.gain = 0.95;
  device.sensor.lag = 0.4_s;
  device.sensor.calibration_floor = 20_W;
  device.sensor.counter_sees_all = true;
  device.sensor.calibrated_by = "calibrated against snmp:rack on 2026-11-21";
  (*writer)->device(device);
  const auto file = (*writer)->finish(run_end());
  ASSERT_TRUE(file);
  const auto read = read_run(*file);
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(read->devices[0].info.sensor.gain, 0.95);
  EXPECT_FALSE(read->devices[0].info.sensor.offset);
  EXPECT_EQ(read->devices[0].info.sensor.lag, 0.4_s);
  EXPECT_EQ(read->devices[0].info.sensor.calibration_floor, 20_W);
  EXPECT_TRUE(read->devices[0].info.sensor.counter_sees_all);
  EXPECT_EQ(read->devices[0].info.sensor.calibrated_by, device.sensor.calibrated_by);
}

}  // namespace
}  // namespace rubato::record
