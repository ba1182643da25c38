#include <gmock/gmock.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "base/fd.h"
#include "base/random.h"
#include "base/text.h"
#include "device_sim/sim_fixture.h"

namespace rubato::device::sim {
namespace {

using testing::HasSubstr;

class FileWorld : public testing::Test {
 protected:
  std::filesystem::path path =
      std::filesystem::path(testing::TempDir()) /
      cat("world-", ::getpid(), "-", testing::UnitTest::GetInstance()->current_test_info()->name());
  std::vector<std::string> one{"v100"};

  ~FileWorld() override { std::filesystem::remove(path); }
  std::unique_ptr<SimWorld> make(const Scenario& scenario = {}) {
    auto world = SimWorld::open_or_create(path, one, scenario);
    EXPECT_TRUE(world) << world.error().what;
    return std::move(*world);
  }
  template <class Body>
  static pid_t child(Body&& body) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      body();
      ::_exit(0);
    }
    return pid;
  }
  static int wait_for(pid_t pid) {
    int status = 0;
    ::waitpid(pid, &status, 0);
    return status;
  }
};

TEST_F(FileWorld, TwoOpenersSeeEachOthersSettings) {
  const auto a = make();
  const auto b = SimWorld::open(path);
  ASSERT_TRUE(b) << b.error().what;
  ASSERT_TRUE(a->set_power_limit(0, 150_W, a->clock()->now()));
  EXPECT_EQ((*b)->truth(0, (*b)->clock()->now())->requested_limit, 150_W);
  EXPECT_EQ(a->identity(0).id, (*b)->identity(0).id);
  EXPECT_THAT(a->identity(0).id.uuid, testing::MatchesRegex("GPU-51......-....-....-....-............"));
}

TEST_F(FileWorld, AForkedChildSharesTheWorldAndNotTheLock) {
  const auto world = make();
  const pid_t pid = child([&] {
    for (int i = 0; i < 200; ++i)
      static_cast<void>(world->set_power_limit(0, Watts(100 + i % 100), world->clock()->now()));
    static_cast<void>(world->set_power_limit(0, 123_W, world->clock()->now()));
  });
  for (int i = 0; i < 200; ++i) EXPECT_TRUE(world->read(CallId::read_power, 0, world->clock()->now()));
  EXPECT_EQ(wait_for(pid), 0);
  const Truth truth = *world->truth(0, world->clock()->now());
  EXPECT_EQ(truth.requested_limit, 123_W);
  EXPECT_EQ(truth.writes, 201U);
}

TEST_F(FileWorld, AProcessKilledAnywhereLeavesAValidState) {
  const auto world = make();
  Random random(7);
  Joules before = world->truth(0, world->clock()->now())->energy;
  for (int round = 0; round < 60; ++round) {
    const pid_t pid = child([&] {
      for (;;) static_cast<void>(world->set_power_limit(0, 150_W, world->clock()->now()));
    });
    ::usleep(static_cast<useconds_t>(500 + random.index(3000)));
    ::kill(pid, SIGKILL);
    wait_for(pid);
    const Result<Truth> truth = world->truth(0, world->clock()->now());
    ASSERT_TRUE(truth) << truth.error().what;
    EXPECT_GE(truth->energy, before);
    EXPECT_TRUE(truth->requested_limit == 150_W || truth->requested_limit == 250_W);
    EXPECT_GT(truth->power, 30_W);
    before = truth->energy;
  }
}

TEST_F(FileWorld, TheContextOfADeadProcessDisappears) {
  const auto world = make();
  const Segment work = compute_heavy();
  const pid_t pid = child([&] {
    static_cast<void>(world->add_context(0, ::getpid(), 0, std::span(&work, 1), world->clock()->now()));
  });
  EXPECT_EQ(wait_for(pid), 0);
  EXPECT_TRUE(world->read_processes(0, world->clock()->now())->empty());
  ASSERT_TRUE(world->add_context(0, ::getpid(), 0, std::span(&work, 1), world->clock()->now()));
  EXPECT_EQ(world->read_processes(0, world->clock()->now())->at(0).pid, ::getpid());
}

TEST_F(FileWorld, AHeldLockIsAnErrorAndNotAHang) {
  const auto world = make();
  const ScopedFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::flock(fd.get(), LOCK_EX), 0);
  const Result<Truth> truth = world->truth(0, world->clock()->now());
  ASSERT_FALSE(truth);
  EXPECT_EQ(truth.error().code, ErrorCode::timeout);
  EXPECT_THAT(truth.error().what, HasSubstr("probably stopped"));
}

TEST_F(FileWorld, FaultsAreCountedOverAllProcesses) {
  const auto world =
      make(*parse_scenario(R"({"faults":[{"call":"read_power","after":2,"effect":"error"}]})"));
  const auto read = [&] { return world->read(CallId::read_power, 0, world->clock()->now()).has_value(); };
  EXPECT_TRUE(read());
  EXPECT_EQ(wait_for(child([&] { static_cast<void>(read()); })), 0);
  EXPECT_FALSE(read());
  EXPECT_TRUE(read());
}

TEST_F(FileWorld, KillAfterDiesWithTheWorkDone) {
  const auto world =
      make(*parse_scenario(R"({"faults":[{"call":"set_power_limit","effect":"kill_after"}]})"));
  const int status =
      wait_for(child([&] { static_cast<void>(world->set_power_limit(0, 150_W, world->clock()->now())); }));
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  EXPECT_EQ(world->truth(0, world->clock()->now())->requested_limit, 150_W);
}

TEST_F(FileWorld, AScaledWorldRunsFasterThanTheWall) {
  const auto world = make(*parse_scenario(R"({"rate":100})"));
  const TimePoint begin = world->clock()->now();
  sleep_until(*world->clock(), begin + 1_s);
  EXPECT_GE(world->truth(0, world->clock()->now())->energy, 35_J);
  EXPECT_DOUBLE_EQ(world->clock()->wall(1_s).value(), 0.01);
}

TEST_F(FileWorld, OtherProfilesThanThoseItHoldsAreAConflict) {
  static_cast<void>(make());
  const auto other = SimWorld::open_or_create(path, std::vector<std::string>{"a100"}, {});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::conflict);
  EXPECT_TRUE(SimWorld::open_or_create(path, {}, {}));
}

TEST_F(FileWorld, AFileThatIsNoWorldIsRefused) {
  std::ofstream(path) << std::string(100000, 'x');
  EXPECT_EQ(SimWorld::open(path).error().code, ErrorCode::corrupt);
  std::filesystem::resize_file(path, 10);
  EXPECT_EQ(SimWorld::open(path).error().code, ErrorCode::corrupt);
}

TEST_F(FileWorld, ResetRemovesIt) {
  static_cast<void>(make());
  EXPECT_TRUE(reset_world(path));
  EXPECT_EQ(reset_world(path).error().code, ErrorCode::not_found);
  EXPECT_EQ(SimWorld::open(path).error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace rubato::device::sim
