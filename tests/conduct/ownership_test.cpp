#include "conduct/ownership.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/text.h"

namespace rubato::conduct {
namespace {

constexpr pid_t kJob = 100;
using Verdict = Ownership::Verdict;

/// A /proc of our own.
class OwnershipTest : public testing::Test {
 protected:
  OwnershipTest() { std::filesystem::remove_all(folder_); }
  ~OwnershipTest() override { std::filesystem::remove_all(folder_); }

  void process(pid_t pid, pid_t parent, const std::string& name, const std::string& environment = "") const {
    const auto proc = folder_ / "proc" / std::to_string(pid);
    std::filesystem::create_directories(proc);
    std::ofstream(proc / "stat") << pid << " (" << name << ") S " << parent << " 1 1 0 -1 4194304 0 0\n";
    std::ofstream(proc / "comm") << name << "\n";
    std::ofstream(proc / "environ") << environment;
  }
  [[nodiscard]] Ownership judge(const std::vector<std::int64_t>& pids) const {
    std::vector<ComputeProcess> processes;
    for (const auto pid : pids) processes.push_back({pid, std::nullopt});
    return OwnershipCheck(FsRoot(folder_), kJob, "run-7", same_group_).judge(processes);
  }
  OwnershipCheck::SameGroup same_group_;

 private:
  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / cat("rubato-ownership-", ::getpid());
};

TEST_F(OwnershipTest, AnIdleGpuIsNobodys) {
  EXPECT_EQ(judge({}).verdict, Verdict::none);
}

TEST_F(OwnershipTest, TheJobAndItsDescendantsAreTheJobs) {
  process(kJob, 1, "python3");
  process(101, kJob, "python3");
  process(102, 101, "pt_data_worker");
  EXPECT_EQ(judge({kJob}).verdict, Verdict::job);
  EXPECT_EQ(judge({101, 102}).verdict, Verdict::job);
}

TEST_F(OwnershipTest, SpacesAndBracketsInAProcessNameHideNoParent) {
  process(kJob, 1, "sh");
  process(101, kJob, "tmux: server) S 1 (x");
  process(102, 101, "worker (rank 0)");
  EXPECT_EQ(judge({102}).verdict, Verdict::job);
}

TEST_F(OwnershipTest, ADaemonThatLeftTheTreeIsKnownByItsEnvironment) {
  process(kJob, 1, "launcher");
  process(300, 1, "daemon", std::string("A=1\0RUBATO_RUN_ID=run-7\0B=2\0", 28));
  EXPECT_EQ(judge({300}).verdict, Verdict::job);
}

TEST_F(OwnershipTest, TheRunIdOfAnotherRunIsForeign) {
  process(kJob, 1, "launcher");
  process(300, 1, "daemon", std::string("RUBATO_RUN_ID=run-70\0XRUBATO_RUN_ID=run-7\0", 42));
  EXPECT_EQ(judge({300}).verdict, Verdict::foreign);
  EXPECT_FALSE(judge({300}).job_here);
}

TEST_F(OwnershipTest, AnotherRankOfTheJobIsTheJobsAndSoAreItsChildren) {
  same_group_ = [](const std::vector<std::string>& entries) {
    return std::find(entries.begin(), entries.end(), "GROUP=g") != entries.end();
  };
  process(kJob, 1, "python3");
  process(400, 1, "rubato", std::string("GROUP=g\0", 8));
  process(401, 400, "python3", std::string("GROUP=g\0", 8));
  process(402, 401, "pt_data_worker", "a title in place of the environment");
  process(500, 1, "python3", std::string("GROUP=h\0", 8));
  EXPECT_EQ(judge({kJob, 401, 402}).verdict, Verdict::job);
  EXPECT_EQ(judge({500}).verdict, Verdict::foreign);
}

TEST_F(OwnershipTest, OneForeignProcessAmongTheJobsIsNamed) {
  process(kJob, 1, "python3");
  process(500, 1, "other train");
  const Ownership seen = judge({kJob, 500});
  EXPECT_EQ(seen.verdict, Verdict::foreign);
  EXPECT_NE(seen.why.find("process 500 (other train)"), std::string::npos) << seen.why;
}

TEST_F(OwnershipTest, AProcessThatCannotBeSeenIsUnknown) {
  process(kJob, 1, "python3");
  const Ownership seen = judge({kJob, 4242});
  EXPECT_EQ(seen.verdict, Verdict::unknown);
  EXPECT_NE(seen.why.find("4242"), std::string::npos) << seen.why;
}

TEST_F(OwnershipTest, ALoopOfParentsEnds) {
  process(kJob, 1, "python3");
  process(600, 601, "a");
  process(601, 600, "b");
  EXPECT_EQ(judge({600}).verdict, Verdict::foreign);
}

}  // namespace
}  // namespace rubato::conduct
