#include "simgpu/trainer/train.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "core/sweep_table_csv.h"
#include "device/replay/world.h"
#include "rubato/mark_layout.h"
#include "simgpu/trainer/mark_writer.h"

namespace rubato::sim_trainer {
namespace {

struct Ring {
  rubato_mark_header header{};
  std::vector<rubato_mark_record> records;
};

Ring read_ring(const std::filesystem::path& path) {
  Ring ring;
  std::ifstream in(path, std::ios::binary);
  in.read(reinterpret_cast<char*>(&ring.header), sizeof ring.header);
  ring.records.resize(ring.header.capacity);
  in.read(reinterpret_cast<char*>(ring.records.data()),
          static_cast<std::streamsize>(ring.records.size() * sizeof(rubato_mark_record)));
  EXPECT_TRUE(in);
  return ring;
}

class Train : public testing::Test {
 protected:
  std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) /
      cat("train-", ::getpid(), "-", testing::UnitTest::GetInstance()->current_test_info()->name());
  std::unique_ptr<device::sim::SimWorld> world;

  void SetUp() override {
    std::filesystem::create_directories(folder);
    const std::vector<std::string> names{"v100"};
    auto made = device::sim::SimWorld::open_or_create(folder / "world", names, {.rate = 200.0});
    ASSERT_TRUE(made) << made.error().what;
    world = std::move(*made);
    ::setenv("RUBATO_SIM_WORLD", (folder / "world").c_str(), 1);
    ::setenv("RUBATO_SIM_GPUS", world->identity(0).id.uuid.c_str(), 1);
    ::setenv(RUBATO_MARKS_ENV, folder.c_str(), 1);
  }
  ~Train() override {
    for (const char* name : {"RUBATO_SIM_WORLD", "RUBATO_SIM_GPUS", RUBATO_MARKS_ENV}) ::unsetenv(name);
    std::filesystem::remove_all(folder);
  }
  static pid_t start(const TrainOptions& options) {
    const pid_t pid = ::fork();
    if (pid == 0) ::_exit(train(options).value_or(99));
    return pid;
  }
  static int wait_for(pid_t pid) {
    int status = 0;
    ::waitpid(pid, &status, 0);
    return status;
  }
};

TEST_F(Train, WritesMarksAsTheLayoutSays) {
  const TimePoint begin = world->clock()->now();
  const pid_t pid = start({.iterations = 10});
  EXPECT_EQ(wait_for(pid), 0);
  const Ring ring = read_ring(folder / cat(pid, "-", pid, ".ring"));
  EXPECT_EQ(ring.header.magic, RUBATO_MARK_MAGIC);
  EXPECT_EQ(ring.header.version, RUBATO_MARK_VERSION);
  EXPECT_EQ(ring.header.capacity, RUBATO_MARK_DEFAULT_CAPACITY);
  EXPECT_EQ(ring.header.pid, pid);
  ASSERT_EQ(ring.header.written,
            24U);  // its model by name; begin and end of 10 iterations and of the one epoch
  for (std::uint64_t n = 0; n < 24; ++n) {
    EXPECT_EQ(ring.records[n].sequence, n + 1);
    EXPECT_EQ(ring.records[n].flags, RUBATO_MARK_FLAG_SIMULATED);
    EXPECT_GE(ring.records[n].monotonic_ns, begin.ns);
    EXPECT_LE(ring.records[n].monotonic_ns, world->clock()->now().ns);
  }
  EXPECT_EQ(ring.records[0].kind, std::uint32_t{RUBATO_MARK_NAME});
  EXPECT_EQ(ring.records[1].kind, std::uint32_t{RUBATO_MARK_MODEL});
  EXPECT_EQ(ring.records[1].id, hash_of_name("resnet50"));
  EXPECT_EQ(ring.records[1].detail[0], 25'557'032U);
  EXPECT_EQ(ring.records[1].detail[1], 128U);
  EXPECT_EQ(ring.records[1].detail[2], std::uint64_t{RUBATO_PRECISION_FP32});
  EXPECT_EQ(ring.records[2].kind, std::uint32_t{RUBATO_MARK_EPOCH_BEGIN});
  EXPECT_EQ(ring.records[3].kind, std::uint32_t{RUBATO_MARK_ITERATION_BEGIN});
}

TEST_F(Train, DiesOfSigtermWithItsContextGone) {
  const pid_t pid = start({.iterations = 100000});
  // Until it is on the GPU.
  while (world->read_processes(0, world->clock()->now())->empty())
    sleep_until(*world->clock(), world->clock()->now() + 1_s);
  ::kill(pid, SIGTERM);
  const int status = wait_for(pid);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
  EXPECT_EQ(world->read(device::sim::CallId::read_clocks, 0, world->clock()->now())->memory_used_bytes, 0U);
}

TEST_F(Train, AKilledTrainerLeavesTheWorldUsable) {
  const pid_t pid = start({.iterations = 100000});
  while (world->read_processes(0, world->clock()->now())->empty())
    sleep_until(*world->clock(), world->clock()->now() + 1_s);
  ::kill(pid, SIGKILL);
  wait_for(pid);
  EXPECT_TRUE(world->read_processes(0, world->clock()->now())->empty());
  EXPECT_EQ(wait_for(start({.iterations = 3})), 0);
}

TEST_F(Train, WithoutAWorldItSaysSo) {
  ::unsetenv("RUBATO_SIM_WORLD");
  const Result<int> result = train({});
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().what.find("RUBATO_SIM_WORLD"), std::string::npos);
}

TEST_F(Train, AWorkloadThatIsNoneIsNamedBeforeAWorldIsMissed) {
  ::unsetenv("RUBATO_SIM_WORLD");
  const Result<int> result = train({.workload = "resnet51"});
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().what.find("resnet51"), std::string::npos) << result.error().what;
}

TEST_F(Train, OnARunOfReplayedGpusItTrainsTheTablesOwnWorkload) {
  const auto table = parse_sweep_table(
      "gpu,workload,group,power_limit_w,sm_clock_mhz,memory_clock_mhz,time_s,power_w,energy_j\n"
      "V100,net,g,100,,,0.4,50,20\nV100,net,g,200,,,0.2,100,20\n");
  ASSERT_TRUE(table);
  const device::replay::ReplaySource source{.table = *table, .iteration = {}};
  const auto replay =
      device::replay::ReplayWorld::open_or_create(folder / "replay", std::span(&source, 1), {.rate = 200.0});
  ASSERT_TRUE(replay) << replay.error().what;
  ::setenv("RUBATO_REPLAY_WORLD", (folder / "replay").c_str(), 1);
  EXPECT_EQ(wait_for(start({.workload = "replay", .iterations = 5})), 0) << "named";
  ::setenv("RUBATO_REPLAY_GPUS", (*replay)->identity(0).id.uuid.c_str(), 1);
  EXPECT_EQ(wait_for(start({.workload = "", .iterations = 5})), 0) << "found from the environment";
  EXPECT_NEAR((*replay)->read(0, (*replay)->clock()->now())->energy.value(), 10 * 20, 1e-6);
  const Result<int> other = train({.workload = "resnet50"});
  ::unsetenv("RUBATO_REPLAY_GPUS");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().hint, "rubato sim train replay");
  ::unsetenv("RUBATO_REPLAY_WORLD");
  EXPECT_EQ(train({.workload = "replay"}).error().code, ErrorCode::unavailable);
  EXPECT_EQ(train({.workload = ""}).error().code, ErrorCode::invalid_argument);
}

TEST_F(Train, AFullRingDropsItsOldestMarks) {
  {
    Result<MarkWriter> writer = MarkWriter::create(folder, 4);
    ASSERT_TRUE(writer) << writer.error().what;
    for (std::uint64_t i = 0; i < 10; ++i) writer->write(TimePoint{1}, RUBATO_MARK_ITERATION_BEGIN, i);
  }
  const Ring ring = read_ring(folder / cat(::getpid(), "-", ::gettid(), ".ring"));
  EXPECT_EQ(ring.header.written, 10U);
  EXPECT_EQ(ring.records[9 % 4].id, 9U);
  EXPECT_EQ(ring.records[6 % 4].sequence, 7U);
}

}  // namespace
}  // namespace rubato::sim_trainer
