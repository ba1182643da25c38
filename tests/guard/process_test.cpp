// The guard as a real process: what ends its client, its terminal or itself must not leave the GPU changed.
#include "guard/process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "base/text.h"
#include "guard/fake_gpu.h"
#include "guard/launch.h"
#include "wire/lease_client.h"

namespace rubato::guard {
namespace {

const GpuId kGpu{"GPU-a"};
constexpr std::chrono::seconds kSoon{20};

/// Waits on the wall for something another process does; only ever as long as that takes.
template <class Predicate>
bool soon(Predicate happened) {
  const auto end = std::chrono::steady_clock::now() + kSoon;
  while (!happened()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) throw std::runtime_error(cat(name, " is not set"));
  return value;
}

class GuardProcess : public ::testing::Test {
 protected:
  GuardProcess() {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ =
        std::filesystem::path(::testing::TempDir()) / cat("rubato-process-", ::getpid(), "-", info->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    std::filesystem::permissions(folder_, std::filesystem::perms(0700));
    const ScopedFd fd(::open(world().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    EXPECT_EQ(::ftruncate(fd.get(), sizeof(fake::State)), 0);
    mapped_ = ::mmap(nullptr, sizeof(fake::State), PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
    gpu_ = new (mapped_) fake::State();
  }
  ~GuardProcess() override {
    // A guard whose client is gone puts files away before it ends: its folder goes after it.
    silence();
    client_.reset();
    if (pid_ > 0) {
      EXPECT_TRUE(soon([&] { return ::waitpid(pid_, nullptr, WNOHANG) == pid_ || ::kill(pid_, 0) != 0; }));
    }
    ::munmap(mapped_, sizeof(fake::State));
    std::filesystem::remove_all(folder_);
  }

  [[nodiscard]] std::string world() const { return (folder_ / "world").string(); }
  [[nodiscard]] std::filesystem::path journal() const { return world() + "-journals/" + kGpu.uuid; }
  [[nodiscard]] LaunchOptions options() const {
    return {.backend_spec = world(),
            .own_scope = false,
            .program = cat(environment("RUBATO_BIN_DIR"), "/guard_process_fixture")};
  }
  /// Launched, with 150 W and 1005 MHz set on the GPU found at 200 W.
  void launch_and_set(bool successor = false) {
    LaunchOptions wanted = options();
    wanted.successor = successor;
    auto launched = launch_guard(wanted);
    ASSERT_TRUE(launched.has_value()) << launched.error().what;
    pid_ = static_cast<pid_t>(launched->pid);
    // The client's clock stands still: heartbeats are the tests' own.
    client_ =
        std::make_unique<wire::LeaseClient>(std::move(launched->channel), std::make_shared<VirtualClock>());
    keep_alive_ = std::jthread([this](const std::stop_token& stop) {
      for (std::int64_t second = 1; !stop.stop_requested(); ++second) {
        (void)client_->step(TimePoint{second * 1'000'000'000});
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
      }
    });
    ASSERT_TRUE(client_->acquire({{kGpu}, {Knob::power_limit, Knob::sm_clock}, {}}).has_value());
    ASSERT_TRUE(
        client_->apply(kGpu, {.power_limit = 150_W, .sm_clock = ClockRange{1005_MHz, 1005_MHz}}).has_value());
    ASSERT_EQ(gpu_->requested, 150);
  }
  void silence() {
    keep_alive_.request_stop();
    if (keep_alive_.joinable()) keep_alive_.join();
  }
  [[nodiscard]] bool as_found() const { return gpu_->requested == 200 && !gpu_->sm.on; }

  std::filesystem::path folder_;
  void* mapped_ = nullptr;
  volatile fake::State* gpu_ = nullptr;  // in mapped_, which other processes change
  pid_t pid_ = 0;
  std::unique_ptr<wire::LeaseClient> client_;
  std::jthread keep_alive_;
};

TEST_F(GuardProcess, RestoresWhenItsClientIsGoneAndEndsWell) {
  launch_and_set();
  silence();
  client_.reset();
  EXPECT_TRUE(soon([&] { return as_found(); }));
  int status = 0;
  EXPECT_EQ(::waitpid(pid_, &status, 0), pid_);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_FALSE(std::filesystem::exists(journal()));
}

TEST_F(GuardProcess, RestoresOnEverySignalThatAsksItToEnd) {
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    launch_and_set();
    ASSERT_EQ(::kill(pid_, number), 0);
    int status = 0;
    EXPECT_EQ(::waitpid(pid_, &status, 0), pid_);
    EXPECT_TRUE(as_found()) << "signal " << number;
    EXPECT_TRUE(WIFEXITED(status)) << "signal " << number;
    silence();
  }
}

TEST_F(GuardProcess, RestoresAfterFiveSecondsOfSilenceAndGoesOnServing) {
  launch_and_set();
  silence();
  EXPECT_TRUE(soon([&] { return as_found(); }));
  EXPECT_EQ(client_->apply(kGpu, {.power_limit = 150_W}).error().code, ErrorCode::timeout);
  EXPECT_TRUE(client_->acquire({{kGpu}, {Knob::power_limit}, {}}).has_value());
}

TEST_F(GuardProcess, StandsInItsOwnSessionWithNothingOfItsParentOpen) {
  launch_and_set();
  EXPECT_EQ(::getsid(pid_), pid_);
  int open_files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(cat("/proc/", pid_, "/fd"))) {
    const auto target = std::filesystem::read_symlink(entry.path()).string();
    const bool known = target == "/dev/null" || target.starts_with("socket:") ||
                       target.starts_with("anon_inode:") || target.starts_with(world() + "-journals");
    EXPECT_TRUE(known) << target;
    ++open_files;
  }
  EXPECT_GE(open_files, 5);
}

TEST_F(GuardProcess, ThatIsKilledLeavesAJournalWhichTheNextOnePutsBack) {
  launch_and_set();
  ASSERT_EQ(::kill(pid_, SIGKILL), 0);
  ASSERT_EQ(::waitpid(pid_, nullptr, 0), pid_);
  silence();
  EXPECT_FALSE(as_found());
  EXPECT_TRUE(std::filesystem::exists(journal()));
  const auto reports = launch_restore(options());
  ASSERT_TRUE(reports.has_value()) << reports.error().what;
  ASSERT_EQ(reports->size(), 1U);
  EXPECT_EQ(reports->at(0).outcome, Restoration::restored);
  EXPECT_TRUE(as_found());
}

/// The successor's process, while its guard lives.
pid_t child_of(pid_t guard) {
  std::ifstream children(cat("/proc/", guard, "/task/", guard, "/children"));
  pid_t child = 0;
  children >> child;
  return child;
}

bool runs(pid_t process) {
  return ::kill(process, 0) == 0;
}

TEST_F(GuardProcess, ThatIsKilledHasItsSuccessorPutBackAndTellTheClient) {
  for (const bool refuses : {false, true}) {
    launch_and_set(true);
    const pid_t successor = child_of(pid_);
    ASSERT_GT(successor, 0);
    EXPECT_EQ(::getsid(successor), successor);
    gpu_->refuses_limits = refuses;
    ASSERT_EQ(::kill(successor, SIGTERM), 0);  // as the end of a scope sends to all: it ends with its guard
    ASSERT_EQ(::kill(pid_, SIGKILL), 0);
    ASSERT_EQ(::waitpid(pid_, nullptr, 0), pid_);
    if (refuses) {
      EXPECT_TRUE(soon([&] { return !gpu_->sm.on; }));  // it has tried once
      gpu_->refuses_limits = false;
    }
    EXPECT_TRUE(soon([&] { return client_->guard_gone(); }));
    silence();
    EXPECT_TRUE(as_found());
    EXPECT_FALSE(std::filesystem::exists(journal()));
    const auto words = client_->last_words();
    ASSERT_TRUE(words.has_value());
    ASSERT_EQ(words->size(), 1U);
    EXPECT_EQ(words->at(0).outcome, Restoration::restored) << words->at(0).detail;
    EXPECT_TRUE(soon([&] { return !runs(successor); }));
  }
}

TEST_F(GuardProcess, ARequestUnderWayWhenItIsKilledEndsWhenAllIsPutBack) {
  launch_and_set(true);
  silence();
  ASSERT_EQ(::kill(pid_, SIGSTOP), 0);
  std::jthread killer([this] {
    // Nothing tells when a request has been sent; one that was not yet fails alike.
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    (void)::kill(pid_, SIGKILL);
  });
  EXPECT_EQ(client_->apply(kGpu, {.power_limit = 140_W}).error().code, ErrorCode::unavailable);
  EXPECT_TRUE(client_->guard_gone());
  EXPECT_TRUE(as_found());
  ASSERT_TRUE(client_->last_words().has_value());
  EXPECT_EQ(client_->last_words()->at(0).outcome, Restoration::restored);
}

TEST_F(GuardProcess, ThatEndsByItselfTakesItsSuccessorAlong) {
  launch_and_set(true);
  const pid_t successor = child_of(pid_);
  ASSERT_GT(successor, 0);
  silence();
  client_.reset();
  EXPECT_TRUE(soon([&] { return as_found() && !runs(successor); }));
}

// Each has the lock or finds no journal: neither undoes what the other did.
TEST_F(GuardProcess, ItsSuccessorAndARestorationAtOncePutBackOnce) {
  for (int i = 0; i < 10; ++i) {
    launch_and_set(true);
    ASSERT_EQ(::kill(pid_, SIGKILL), 0);
    const auto reports = launch_restore(options());
    ASSERT_TRUE(reports.has_value()) << reports.error().what;
    EXPECT_TRUE(soon([&] { return client_->guard_gone(); }));
    silence();
    const auto words = client_->last_words();
    ASSERT_TRUE(words.has_value());
    EXPECT_LE(reports->size() + words->size(), 1U);
    EXPECT_TRUE(as_found());
    EXPECT_FALSE(std::filesystem::exists(journal()));
    ASSERT_EQ(::waitpid(pid_, nullptr, 0), pid_);
  }
}

TEST_F(GuardProcess, ThatWasStoppedForLongFindsTheHeartbeatsAndKeepsTheLease) {
  launch_and_set();
  ASSERT_EQ(::kill(pid_, SIGSTOP), 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(1200));  // six of the guard's seconds
  ASSERT_EQ(::kill(pid_, SIGCONT), 0);
  EXPECT_TRUE(client_->apply(kGpu, {.power_limit = 140_W}).has_value());
  EXPECT_EQ(gpu_->requested, 140);
}

TEST_F(GuardProcess, WithoutADriverTheLaunchSaysWhatTheGuardSaid) {
  LaunchOptions none = options();
  none.backend_spec = "none";
  const auto launched = launch_guard(none);
  ASSERT_FALSE(launched.has_value());
  EXPECT_EQ(launched.error().what, "there is no driver");
}

TEST_F(GuardProcess, AProgramThatDoesNotStartIsNamedAsSuch) {
  LaunchOptions missing = options();
  missing.program = "/nonexistent";
  const auto launched = launch_guard(missing);
  ASSERT_FALSE(launched.has_value());
  EXPECT_EQ(launched.error().what, "the guard ended before it answered: exit status 127");
}

TEST_F(GuardProcess, AScopeThatCannotBeHadFallsBackToAPlainChild) {
  std::filesystem::create_directories(folder_ / "root/run/systemd/system");
  // Stands for a systemd-run that cannot reach its manager.
  const auto broken = folder_ / "bin/systemd-run";
  std::filesystem::create_directories(broken.parent_path());
  std::ofstream(broken) << "#!/bin/sh\nexit 1\n";
  std::filesystem::permissions(broken, std::filesystem::perms(0700));
  const std::string before = environment("PATH");
  ::setenv("PATH", (broken.parent_path().string() + ":" + before).c_str(), 1);
  LaunchOptions scoped = options();
  scoped.own_scope = true;
  scoped.root = FsRoot(folder_ / "root");
  const auto launched = launch_guard(scoped);
  ::setenv("PATH", before.c_str(), 1);
  ASSERT_TRUE(launched.has_value()) << launched.error().what;
  EXPECT_FALSE(launched->own_scope);
}

/// Stands for sudo: root already, so it only says who asked.
TEST_F(GuardProcess, StartedThroughSudoConnectsBackWithItsToken) {
  if (::geteuid() != 0) GTEST_SKIP() << "the guard's end must be root's";
  const auto sudo = folder_ / "sudo";
  std::ofstream(sudo) << "#!/bin/sh\n[ \"$1\" = -v ] && exit 0\nSUDO_UID=0 exec \"$@\"\n";
  std::filesystem::permissions(sudo, std::filesystem::perms(0700));
  LaunchOptions through = options();
  through.sudo_folder = folder_;
  through.sudo = sudo.string();
  auto launched = launch_guard(through);
  ASSERT_TRUE(launched.has_value()) << launched.error().what;
  pid_ = static_cast<pid_t>(launched->pid);
  for (const auto& entry : std::filesystem::directory_iterator(folder_))
    EXPECT_NE(entry.path().extension(), ".sock");
  wire::LeaseClient client(std::move(launched->channel), std::make_shared<VirtualClock>());
  EXPECT_TRUE(client.acquire({{kGpu}, {Knob::power_limit}, {}}).has_value());
}

TEST_F(GuardProcess, ASudoThatRefusesStartsNothing) {
  LaunchOptions through = options();
  through.sudo_folder = folder_;
  through.sudo = "false";
  const auto launched = launch_guard(through);
  ASSERT_FALSE(launched.has_value());
  EXPECT_EQ(launched.error().code, ErrorCode::no_permission);
}

}  // namespace
}  // namespace rubato::guard
