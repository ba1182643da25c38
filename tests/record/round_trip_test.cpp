#include <gmock/gmock.h>

#include "record/chunk.h"
#include "record/reader.h"
#include "record/sqlite.h"
#include "sample_run.h"

namespace rubato::record {
namespace {

using namespace testing_data;
using testing::SizeIs;

std::int64_t count(const std::filesystem::path& file, const std::string& sql) {
  auto db = Database::open(file, Database::Mode::read);
  Statement rows(sql);
  return db && rows.next(*db) ? rows.integer() : -1;
}

TEST(RunRecord, GivesBackEverythingThatWasWritten) {
  const Folder folder;
  auto writer = Writer::create(folder.path(), run_info());
  ASSERT_TRUE(writer) << writer.error().what;
  Writer& w = **writer;
  const Setting chosen{.power_limit = 150_W,
                       .sm_clock = ClockRange{1005_MHz, 1110_MHz},
                       .memory_clock = ClockRange{877_MHz, 877_MHz},
                       .application_clocks = ApplicationClocks{877_MHz, 1380_MHz}};
  w.device(device_info());
  w.source(kGpu, counter_source());
  w.counter_edge({kBegin, kGpu, 7_J, true});
  w.mark({.at = kBegin, .kind = 1, .id = ~std::uint64_t{0}, .pid = 5, .tid = 6});
  w.iteration({4, kBegin, kBegin + 1_s});
  w.block({BlockRole::hold, kGpu, chosen, kBegin, kBegin + 10_s, 10, energy(kBegin, kBegin + 10_s, 1000_J)});
  w.block({BlockRole::control, kGpu, {}, kBegin + 10_s, kBegin + 20_s, 0, std::nullopt});
  w.setting_change({kBegin, kGpu, "rubato", chosen, {.power_limit = 150_W}, 149_W, 1110_MHz, "applied"});
  w.decision({kBegin, "hold", chosen, "The user asked for it."});
  w.gap({kBegin, kBegin + 1_s, kGpu, "the driver did not answer"});
  w.gap({kBegin, kBegin + 2_s, std::nullopt, "rubato was stopped"});
  ASSERT_TRUE(write_tenths(w, 0, 300));
  const auto file = w.finish(run_end());
  ASSERT_TRUE(file) << file.error().what;

  const auto read = read_run(*file);
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(read->info.command, run_info().command);
  EXPECT_EQ(read->info.begin, kBegin);
  EXPECT_EQ(read->info.clock_rate, 2.0);
  EXPECT_EQ(read->info.started_at, "2026-11-21T08:15:00Z");
  ASSERT_THAT(read->devices, SizeIs(1));
  const DeviceRecord& d = read->devices[0];
  EXPECT_EQ(d.info.identity.id, kGpu);
  EXPECT_EQ(d.info.identity.index, 3U);
  EXPECT_EQ(d.info.kind, Kind::modelled);
  EXPECT_EQ(d.info.sensor.update_period, Seconds(0.02));
  EXPECT_FALSE(d.info.sensor.averaging_window);
  EXPECT_EQ(d.info.found->requested, 200_W);
  EXPECT_THAT(d.sources, SizeIs(1));
  ASSERT_THAT(d.counter_edges, SizeIs(1));
  EXPECT_TRUE(d.counter_edges[0].reset);
  ASSERT_THAT(d.fast, SizeIs(300));
  EXPECT_EQ(d.fast[299].at, fast(299).at);
  EXPECT_EQ(d.fast[299].energy_counter, fast(299).energy_counter);
  ASSERT_THAT(d.slow, SizeIs(30));
  EXPECT_EQ(d.slow[29].limiter, LimiterReasons{.power_cap = true});
  EXPECT_FALSE(d.slow[29].temperature);
  EXPECT_EQ(read->iterations[0].index, 4);
  ASSERT_THAT(read->blocks, SizeIs(2));
  EXPECT_EQ(read->blocks[0].setting, chosen);
  EXPECT_EQ(read->blocks[0].energy->energy, 1000_J);
  EXPECT_EQ(read->blocks[0].energy->source.quality, "20 ms steps");
  EXPECT_FALSE(read->blocks[1].energy);
  EXPECT_TRUE(read->blocks[1].setting.empty());
  EXPECT_EQ(read->setting_changes[0].enforced, 149_W);
  EXPECT_EQ(read->setting_changes[0].asked, chosen);
  EXPECT_EQ(read->decisions[0].why, "The user asked for it.");
  EXPECT_EQ(read->gaps[0].gpu, kGpu);
  EXPECT_FALSE(read->gaps[1].gpu);
  ASSERT_TRUE(read->end);
  EXPECT_EQ(read->end->exit_code, 3);
  EXPECT_FALSE(read->end->exit_signal);
  EXPECT_EQ(read->end->cost.driver.calls, 400U);
  ASSERT_THAT(read->end->devices, SizeIs(1));
  EXPECT_EQ(read->end->devices[0].energy->energy, 3000_J);
  EXPECT_EQ(read->end->devices[0].requested, (Setting{.power_limit = 150_W}));
  EXPECT_EQ(read->end->devices[0].restoration, Restoration::restored);
}

TEST(RunRecord, IsOneFileOfTenSecondChunksWhenFinished) {
  const Folder folder;
  auto writer = Writer::create(folder.path(), run_info());
  ASSERT_TRUE(writer);
  (*writer)->device(device_info());
  ASSERT_TRUE(write_tenths(**writer, 0, 250));
  const auto file = (*writer)->finish(run_end());
  ASSERT_TRUE(file);
  EXPECT_FALSE(std::filesystem::exists(cat(file->string(), "-wal")));
  EXPECT_EQ(count(*file, "SELECT count(*) FROM sample_chunk WHERE kind='fast'"), 3);
  EXPECT_EQ(count(*file, "SELECT max(end_ns-begin_ns) < 10000000000 FROM sample_chunk"), 1);
}

TEST(RunRecord, KeepsAtMostTenSecondsInSmallChunksWhileItIsWritten) {
  const Folder folder;
  auto writer = Writer::create(folder.path(), run_info());
  ASSERT_TRUE(writer);
  (*writer)->device(device_info());
  ASSERT_TRUE(write_tenths(**writer, 0, 151));
  const auto file = (*writer)->file();
  EXPECT_EQ(count(file, "SELECT max(samples) FROM sample_chunk WHERE kind='fast'"), 100);
  EXPECT_EQ(count(file, "SELECT count(*) FROM sample_chunk WHERE kind='fast'"), 1 + 6)
      << "ten seconds, the rest of the commit they ended in, and five commits of a second";
  EXPECT_EQ(count(file, "SELECT sum(samples) FROM sample_chunk WHERE kind='fast'"), 151);
  EXPECT_GT((*writer)->bytes_written(), 4096U);
}

TEST(RunRecord, KeepsEveryScopeApart) {
  const Folder folder;
  auto writer = Writer::create(folder.path(), run_info());
  ASSERT_TRUE(writer);
  FastReading superchip{kBegin, 300_W, 1_J, 290_W, 500_W, 2_J, 40_W};
  (*writer)->device(device_info());
  (*writer)->sample(kGpu, superchip);
  SlowReading slow{.at = kBegin, .performance_state = 2};
  slow.limited = {.power_cap = 3_s, .power_brake = 0.5_s};
  (*writer)->sample(kGpu, slow);
  RunEnd end = run_end();
  EnergyWindow module = energy(kBegin, kBegin + 30_s, 15000_J);
  module.source.scope = Scope::module;
  end.devices[0].other_scopes.push_back(module);
  const auto file = (*writer)->finish(end);
  ASSERT_TRUE(file);
  const auto read = read_run(*file);
  ASSERT_TRUE(read) << read.error().what;
  const FastReading& fast = read->devices[0].fast[0];
  EXPECT_EQ(fast.power_average, 290_W);
  EXPECT_EQ(fast.module_power, 500_W);
  EXPECT_EQ(fast.module_energy_counter, 2_J);
  EXPECT_EQ(fast.memory_power, 40_W);
  EXPECT_EQ(read->devices[0].slow[0].performance_state, 2U);
  EXPECT_EQ(read->devices[0].slow[0].limited, slow.limited);
  const DeviceEnd& device = read->end->devices[0];
  EXPECT_EQ(device.energy->energy, 3000_J);
  ASSERT_THAT(device.other_scopes, SizeIs(1));
  EXPECT_EQ(device.other_scopes[0].energy, 15000_J);
  EXPECT_EQ(device.other_scopes[0].source.scope, Scope::module);
}

TEST(RunRecord, ThatNothingWasReadOnIsMissingNotZero) {
  const Folder folder;
  auto writer = Writer::create(folder.path(), run_info());
  ASSERT_TRUE(writer);
  (*writer)->device({.identity = {kGpu, "some GPU", 0, ""}});
  (*writer)->sample(kGpu, FastReading{kBegin, std::nullopt, std::nullopt});
  RunEnd end{.end = kBegin + 1_s, .exit_signal = 9};
  end.devices.push_back({.gpu = kGpu});
  const auto file = (*writer)->finish(end);
  ASSERT_TRUE(file);
  const auto read = read_run(*file);
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_FALSE(read->devices[0].info.found);
  EXPECT_FALSE(read->devices[0].fast[0].power);
  EXPECT_FALSE(read->end->devices[0].energy);
  EXPECT_FALSE(read->end->devices[0].found);
  EXPECT_EQ(read->end->exit_signal, 9);
  EXPECT_FALSE(read->end->exit_code);
}

TEST(RunRecord, DropsWhatComesAfterTheEnd) {
  const Folder folder;
  auto writer = Writer::create(folder.path(), run_info());
  ASSERT_TRUE(writer);
  ASSERT_TRUE((*writer)->finish(run_end()));
  (*writer)->iteration({0, kBegin, kBegin});
  EXPECT_TRUE((*writer)->step(kBegin + 99_s));
  EXPECT_GT((*writer)->bytes_written(), 0U);
}

TEST(SampleChunk, IsRefusedWhenABitOfItIsWrong) {
  std::vector<FastReading> samples;
  for (int i = 0; i < 20; ++i) samples.push_back(fast(i));
  ChunkEncoder encoder;
  const auto encoded = encoder.encode(std::span<const FastReading>(samples));
  ASSERT_TRUE(encoded);
  std::vector<char> blob(encoded->begin(), encoded->end());
  const ChunkHead head{.begin = samples[0].at, .samples = samples.size()};
  ASSERT_TRUE(decode_fast_chunk(head, blob));
  int refused = 0;
  for (char& byte : blob) {
    byte = static_cast<char>(byte ^ 1);
    const auto read = decode_fast_chunk(head, blob);
    byte = static_cast<char>(byte ^ 1);
    if (!read)
      ++refused;
    else
      EXPECT_EQ((*read)[19].power, samples[19].power);
  }
  EXPECT_GT(refused, static_cast<int>(blob.size()) / 2);
  EXPECT_FALSE(decode_fast_chunk({.begin = samples[0].at, .samples = samples.size() + 1}, blob));
  EXPECT_FALSE(decode_fast_chunk({.begin = samples[0].at, .samples = samples.size() - 1}, blob));
  EXPECT_FALSE(decode_fast_chunk({.begin = samples[0].at, .samples = std::size_t{1} << 60}, blob));
  EXPECT_FALSE(decode_fast_chunk({.layout = 3, .begin = samples[0].at, .samples = samples.size()}, blob));
}

TEST(SampleChunk, KeepsWhichSamplesHadAValue) {
  std::vector<FastReading> samples;
  for (int i = 0; i < 19; ++i) samples.push_back(fast(i));
  samples[7].power.reset();
  ChunkEncoder encoder;
  const auto blob = encoder.encode(std::span<const FastReading>(samples));
  const auto read = decode_fast_chunk({.begin = samples[0].at, .samples = samples.size()}, blob.value());
  ASSERT_TRUE(read) << read.error().what;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    EXPECT_EQ((*read)[i].power, samples[i].power) << i;
    EXPECT_EQ((*read)[i].energy_counter, samples[i].energy_counter) << i;
  }
}

}  // namespace
}  // namespace rubato::record
