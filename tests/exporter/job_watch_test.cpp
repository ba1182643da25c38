#include "exporter/job_watch.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <chrono>
#include <fstream>

#include "fake_gpu.h"
#include "record/sample_run.h"

namespace rubato::exporter {
namespace {

using record::Writer;
using record::testing_data::Folder;
using testing_data::FakeGpu;

constexpr pid_t kRubato = 4711;

double unix_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

class JobWatchTest : public testing::Test {
 protected:
  /// A run that goes on: as `rubato run` writes it, on the test's GPUs.
  std::unique_ptr<Writer> begin_run(const std::string& id) {
    record::RunInfo info = record::testing_data::run_info(id);
    info.begin = clock_.now();
    auto writer = Writer::create(folder_.path(), info);
    EXPECT_TRUE(writer);
    for (const FakeGpu* gpu : {&gpu_, &other_}) {
      (*writer)->device({.identity = gpu->identity(),
                         .kind = Kind::modelled,
                         .backend = "sim",
                         .driver_version = "550.1",
                         .sensor = gpu->sensor(),
                         .found = PowerLimits{100_W, 250_W, 250_W, 200_W, 200_W}});
    }
    write(**writer);
    running_ = id;
    return std::move(*writer);
  }
  void edge(Writer& writer, FakeGpu& gpu) {
    writer.counter_edge({clock_.now(), gpu.identity().id, *gpu.read_fast()->energy_counter, false});
    write(writer);
  }
  void write(Writer& writer) { EXPECT_TRUE(writer.step(std::max(writer.next_due(), clock_.now()))); }

  void pass(Seconds time) {
    const TimePoint end = clock_.now() + time;
    while (watch_.next_due() < end) {
      clock_.advance_to(watch_.next_due());
      watch_.step(clock_.now());
    }
    clock_.advance_to(end);
  }
  const std::vector<JobState>& look(double later_s = 0) {
    jobs_.step(clock_.now(), unix_now() + later_s, watch_);
    return jobs_.jobs();
  }

  VirtualClock clock_;
  Folder folder_;
  FakeGpu gpu_{clock_, "GPU-1"};
  FakeGpu other_{clock_, "GPU-2"};
  GpuWatch watch_{{{&gpu_, gpu_.sensor()}, {&other_, other_.sensor()}}, clock_.now()};
  std::string running_;
  JobOptions options_{.folders = {folder_.path(), "/nowhere/at/all"},
                      .most = 3,
                      .writer_of = [this](const std::filesystem::path& file) {
                        return !running_.empty() && file.stem() == running_ ? std::optional(kRubato)
                                                                            : std::nullopt;
                      }};
  JobWatch jobs_{options_};
};

record::RunEnd end_at(TimePoint begin, TimePoint end, const GpuId& gpu, Joules joules) {
  record::RunEnd out = record::testing_data::run_end();
  out.end = end;
  out.devices.front().gpu = gpu;
  out.devices.front().energy = record::testing_data::energy(begin, end, joules);
  return out;
}

TEST_F(JobWatchTest, ARunThatGoesOnCountsTheGpusItsJobComputesOn) {
  pass(30_s);
  const TimePoint begin = clock_.now();
  const auto writer = begin_run("a");
  edge(*writer, gpu_);
  edge(*writer, other_);
  EXPECT_THAT(look().at(0).gpus, testing::IsEmpty()) << "nobody computes yet";
  EXPECT_TRUE(look().at(0).running);
  gpu_.here = {{.pid = kRubato}};
  pass(60_s);
  const JobState& job = look().at(0);
  ASSERT_THAT(job.gpus, testing::SizeIs(1)) << "the other GPU is not the job's";
  EXPECT_EQ(job.gpus[0].identity.id.uuid, "GPU-1");
  EXPECT_NEAR(job.gpus[0].energy.value_or(Joules(-1)).value(), 6000, 110)
      << "from the begin, not from the first context";
  EXPECT_EQ(job.gpus[0].found_limit, 200_W);
  EXPECT_EQ(job.duration, clock_.now() - begin);
  EXPECT_FALSE(job.gpus[0].restoration);
}

TEST_F(JobWatchTest, AProcessOfTheJobIsKnownByItsParents) {
  Folder proc;
  for (const auto& [pid, stat] : {std::pair{"200", "200 (py) x) S 100 1 1"},
                                  {"100", "100 (sh) S 4711 1 1"},
                                  {"300", "300 (other) S 1 1 1"}}) {
    std::filesystem::create_directories(proc.path() / "proc" / pid);
    std::ofstream(proc.path() / "proc" / pid / "stat") << stat;
  }
  jobs_ = JobWatch(options_, FsRoot(proc.path()));
  pass(10_s);
  const auto writer = begin_run("a");
  gpu_.here = {{.pid = 300}};
  other_.here = {{.pid = 200}};
  pass(10_s);
  const JobState& job = look().at(0);
  ASSERT_THAT(job.gpus, testing::SizeIs(1));
  EXPECT_EQ(job.gpus[0].identity.id.uuid, "GPU-2");
}

TEST_F(JobWatchTest, ARunOlderThanTheExporterIsCountedByTheDriversCounter) {
  const auto writer = begin_run("a");
  edge(*writer, gpu_);
  gpu_.here = {{.pid = kRubato}};
  clock_.advance(1000_s);  // nobody watched
  pass(10_s);
  EXPECT_NEAR(look().at(0).gpus.at(0).energy.value_or(Joules(-1)).value(), 101'000, 110);
  gpu_.load_driver_again();
  pass(2_s);
  EXPECT_FALSE(look().at(0).gpus.at(0).energy) << "nobody knows by now; the record will";
}

TEST_F(JobWatchTest, EnergyNeverFallsWhenTheRunEnds) {
  pass(10_s);
  const TimePoint begin = clock_.now();
  auto writer = begin_run("a");
  edge(*writer, gpu_);
  gpu_.here = {{.pid = kRubato}};
  pass(60_s);
  const Joules before = *look().at(0).gpus.at(0).energy;
  ASSERT_TRUE(writer->finish(end_at(begin, clock_.now(), gpu_.identity().id, before - 3_J)));
  running_.clear();
  const JobState& job = look().at(0);
  EXPECT_FALSE(job.running);
  EXPECT_EQ(job.gpus.at(0).energy, before);
  EXPECT_EQ(job.gpus.at(0).restoration, Restoration::restored);
  EXPECT_EQ(job.gpus.at(0).requested->power_limit, 150_W);
}

TEST_F(JobWatchTest, ARunThatWasCutShortIsNotRunning) {
  const auto writer = begin_run("a");
  running_.clear();
  const JobState& job = look().at(0);
  EXPECT_FALSE(job.running);
  EXPECT_FALSE(job.gpus.at(0).restoration);
}

TEST_F(JobWatchTest, ThereAreNeverMoreThanAsked) {
  for (const char* id : {"a", "b", "c", "d", "e"}) {
    const auto writer = begin_run(id);
    ASSERT_TRUE(writer->finish(end_at(clock_.now(), clock_.now() + 1_s, gpu_.identity().id, 10_J)));
  }
  running_.clear();
  EXPECT_THAT(look(), testing::SizeIs(3));
  EXPECT_EQ(jobs_.left_out(), 2U);
  EXPECT_THAT(look(2 * 3600), testing::IsEmpty()) << "long over";
  EXPECT_EQ(jobs_.left_out(), 0U);
}

TEST_F(JobWatchTest, ARecordThatCannotBeReadIsCountedAndHidesNoOther) {
  ASSERT_TRUE(begin_run("a")->finish(end_at(clock_.now(), clock_.now() + 1_s, gpu_.identity().id, 10_J)));
  std::ofstream(folder_.path() / "bad.sqlite") << "nonsense";
  std::filesystem::copy_file(folder_.path() / "a.sqlite", folder_.path() / "copy.sqlite");
  running_.clear();
  EXPECT_THAT(look(), testing::SizeIs(1)) << "a copy is the same run";
  EXPECT_EQ(jobs_.unreadable(), 1U);
}

}  // namespace
}  // namespace rubato::exporter
