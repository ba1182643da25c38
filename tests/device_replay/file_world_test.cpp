#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>

#include "device/replay/backend.h"
#include "device/replay/scenario.h"
#include "device_replay/made_table.h"

namespace rubato::device::replay {
namespace {

using testing::HasSubstr;

class ReplayFile : public testing::Test {
 protected:
  std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) /
      cat("replay-", ::getpid(), "-", testing::UnitTest::GetInstance()->current_test_info()->name());
  std::filesystem::path path = folder / "gpu.world";
  ReplaySource source = source_of(kLimits);

  void SetUp() override {
    std::filesystem::create_directories(folder);
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
  }
  ~ReplayFile() override {
    for (const char* name : {"RUBATO_REPLAY_WORLD", "RUBATO_SIM_SCENARIO", "XDG_RUNTIME_DIR"})
      ::unsetenv(name);
    std::filesystem::remove_all(folder);
  }
  std::unique_ptr<ReplayWorld> make(const ReplayOptions& options = {}) {
    auto world = ReplayWorld::open_or_create(path, std::span(&source, 1), options);
    EXPECT_TRUE(world) << world.error().what;
    return std::move(*world);
  }
  std::string table_file(std::string_view rows = kLimits) {
    std::ofstream(folder / "t.csv") << kColumns << rows;
    return (folder / "t.csv").string();
  }
};

TEST_F(ReplayFile, EveryProcessSeesTheSameGpuWithoutTheTable) {
  const auto a = make({.rate = 100});
  const auto b = ReplayWorld::open(path);
  ASSERT_TRUE(b) << b.error().what;
  ASSERT_TRUE(a->set_power_limit(0, 150_W, a->clock()->now()));
  EXPECT_EQ((*b)->read(0, (*b)->clock()->now())->limits->requested, 150_W);
  EXPECT_EQ(a->identity(0).id, (*b)->identity(0).id);
  EXPECT_THAT(a->identity(0).id.uuid, testing::MatchesRegex("GPU-52......-....-....-....-............"));
  EXPECT_EQ((*b)->board(0).workload(), "net");
  EXPECT_DOUBLE_EQ((*b)->clock()->wall(1_s).value(), 0.01);
}

TEST_F(ReplayFile, AnotherTableThanItReplaysIsAConflict) {
  static_cast<void>(make());
  source = source_of(kClocks);
  const auto other = ReplayWorld::open_or_create(path, std::span(&source, 1), {});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::conflict);
  source = source_of(kLimits, 1_s);
  EXPECT_FALSE(ReplayWorld::open_or_create(path, std::span(&source, 1), {})) << "other seconds";
  EXPECT_TRUE(ReplayWorld::open_or_create(path, {}, {}));
}

TEST_F(ReplayFile, AProcessKilledAnywhereLeavesAValidState) {
  const auto world = make();
  Joules before;
  for (int round = 0; round < 20; ++round) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      for (;;) {
        static_cast<void>(world->set_power_limit(0, 150_W, world->clock()->now()));
        static_cast<void>(world->set_power_limit(0, 100_W, world->clock()->now()));
      }
    }
    ::usleep(static_cast<useconds_t>(500 + 113 * round));
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    const auto reading = world->read(0, world->clock()->now());
    ASSERT_TRUE(reading) << reading.error().what;
    EXPECT_GE(reading->energy, before);
    const Watts limit = reading->limits->requested;
    EXPECT_TRUE(limit == 100_W || limit == 150_W || limit == 200_W) << cat(limit);
    before = reading->energy;
  }
}

TEST_F(ReplayFile, TheContextOfADeadProcessDisappears) {
  const auto world = make();
  const pid_t pid = ::fork();
  if (pid == 0) {
    static_cast<void>(world->add_context(0, ::getpid(), world->clock()->now()));
    ::_exit(0);
  }
  ::waitpid(pid, nullptr, 0);
  EXPECT_TRUE(world->read_processes(0, world->clock()->now())->empty());
  EXPECT_TRUE(world->add_context(0, ::getpid(), world->clock()->now()));
}

TEST_F(ReplayFile, WhatIsNoWorldIsRefused) {
  EXPECT_EQ(ReplayWorld::open(path).error().code, ErrorCode::not_found);
  std::ofstream(path) << std::string(100000, 'x');
  EXPECT_EQ(ReplayWorld::open(path).error().code, ErrorCode::corrupt);
  EXPECT_TRUE(reset_world(path));
  EXPECT_EQ(reset_world(path).error().code, ErrorCode::not_found);
}

TEST_F(ReplayFile, TheBackendMakesOneInTheRuntimeFolderNamedByItsContent) {
  ::setenv("XDG_RUNTIME_DIR", folder.c_str(), 1);
  const auto first = open(table_file() + "#net@0.5");
  ASSERT_TRUE(first) << first.error().what;
  const auto again = open(table_file() + "#@0.5");
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_EQ((*first)->gpus()[0].id, (*again)->gpus()[0].id);
  const auto edited = open(table_file("V100,net,g,100,,,4,90,360\nV100,net,g,150,,,2.5,140,350\n"));
  ASSERT_TRUE(edited) << edited.error().what;
  EXPECT_NE((*first)->gpus()[0].id, (*edited)->gpus()[0].id);
  EXPECT_TRUE((*first)->simulated());
  EXPECT_EQ((*first)->outlives_job(), true);
}

TEST_F(ReplayFile, TheBackendTellsAJobWhereItsWorldIs) {
  ::setenv("RUBATO_REPLAY_WORLD", path.c_str(), 1);
  const auto backend = open(table_file());
  ASSERT_TRUE(backend) << backend.error().what;
  const GpuId id = (*backend)->gpus()[0].id;
  const auto environment = (*backend)->job_environment({id});
  EXPECT_THAT(environment, testing::ElementsAre(testing::Pair("RUBATO_REPLAY_WORLD", path.string()),
                                                testing::Pair("RUBATO_REPLAY_GPUS", id.uuid)));
  EXPECT_TRUE(open("")) << "the world as it is";
  EXPECT_EQ((*backend)->open(GpuId{"GPU-none"}).error().code, ErrorCode::not_found);
}

TEST_F(ReplayFile, WithoutATableOrAWorldThereIsNothingToOpen) {
  const auto nothing = open("");
  ASSERT_FALSE(nothing);
  EXPECT_THAT(nothing.error().hint, HasSubstr("replay:FILE"));
  EXPECT_EQ(open("/nowhere.csv").error().code, ErrorCode::not_found);
}

TEST_F(ReplayFile, AScenarioSetsRateRightsAndFoundLimit) {
  std::ofstream(folder / "s.json")
      << R"({"rate": 50, "rights": "none", "outlives_job": false, "found": {"power_limit_w": 150}, "faults": []})";
  ::setenv("RUBATO_SIM_SCENARIO", (folder / "s.json").c_str(), 1);
  ::setenv("RUBATO_REPLAY_WORLD", path.c_str(), 1);
  const auto backend = open(table_file());
  ASSERT_TRUE(backend) << backend.error().what;
  EXPECT_DOUBLE_EQ((*backend)->clock()->wall(1_s).value(), 0.02);
  EXPECT_EQ((*backend)->outlives_job(), false);
  const auto gpu = (*backend)->open((*backend)->gpus()[0].id);
  EXPECT_EQ((*gpu)->power_limits()->requested, 150_W);
  EXPECT_FALSE((*gpu)->capabilities().set_power_limit.available);
}

TEST(ReplayScenario, AFieldATableCannotObeyIsRefusedByName) {
  for (const auto& [json, named] : {std::pair{R"({"faults": [{"effect": "hang"}]})", "faults"},
                                    {R"({"temperature_c": 40})", "temperature_c"},
                                    {R"({"rights": "cap_sys_admin"})", "rights"},
                                    {R"({"rate": 0})", "rate"},
                                    {R"({"rate": "x"})", "rate"},
                                    {R"({"found": {"sm_clock_mhz": 900}})", "found"},
                                    {"[]", "object"},
                                    {"{", "object"}}) {
    const auto options = parse_scenario(json);
    ASSERT_FALSE(options) << json;
    EXPECT_THAT(options.error().what, HasSubstr(named));
  }
}

}  // namespace
}  // namespace rubato::device::replay
