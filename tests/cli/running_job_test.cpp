#include "cli/running_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace rubato::cli {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;
using ::testing::ElementsAre;

class RunningJobTest : public ::testing::Test {
 protected:
  RunningJobTest() : folder_(fs::path(::testing::TempDir()) / ("running_job_" + std::to_string(getpid()))) {
    fs::create_directories(folder_ / "proc" / "77");
  }
  ~RunningJobTest() override { fs::remove_all(folder_); }
  void file(const std::string& name, const std::string& content) {
    std::ofstream(folder_ / "proc" / name, std::ios::binary) << content;
  }
  [[nodiscard]] FsRoot root() const { return FsRoot(folder_); }

 private:
  fs::path folder_;
};

TEST_F(RunningJobTest, TellsCommandAndAge) {
  file("77/cmdline", "python3\0train.py\0--name\0\0"s);
  const auto ticks = std::to_string(1000 * sysconf(_SC_CLK_TCK));
  file("77/stat", "77 (a) b) S 1 77 77 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 " + ticks + " 0 0");
  file("uptime", "8200.50 100.00\n");
  const auto job = running_job(77, root());
  ASSERT_TRUE(job);
  EXPECT_EQ(job->pid, 77);
  // The last argument is empty, and no mistake: it is what --name was given.
  EXPECT_THAT(job->command, ElementsAre("python3", "train.py", "--name", ""));
  ASSERT_TRUE(job->age);
  EXPECT_NEAR(job->age->value(), 7200.5, 1e-6);
  EXPECT_EQ(describe(*job), "process 77, which has run for 2 h 00 min: python3 train.py --name ''");
}

TEST_F(RunningJobTest, SaysNothingOfAnAgeThatIsNotKnown) {
  file("77/cmdline", "train\0"s);
  const auto job = running_job(77, root());
  ASSERT_TRUE(job);
  EXPECT_FALSE(job->age);
  EXPECT_EQ(job->working_directory, "");
  EXPECT_EQ(describe(*job), "process 77: train");
}

TEST_F(RunningJobTest, RefusesWhatDoesNotRun) {
  const auto none = running_job(78, root());
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::not_found);
  file("77/cmdline", "");  // a zombie, or a thread of the kernel
  const auto ended = running_job(77, root());
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ErrorCode::not_found);
  EXPECT_EQ(ended.error().what, "process 77 runs no program: it has ended, or is the kernel's own");
}

TEST_F(RunningJobTest, NamesTheProcessOfAThread) {
  file("77/cmdline", "train\0"s);
  file("77/status", "Name:\tpt_data_worker\nTgid:\t70\nPid:\t77\n");
  const auto job = running_job(77, root());
  ASSERT_FALSE(job);
  EXPECT_EQ(job.error().what, "77 is a thread of process 70");
  EXPECT_EQ(job.error().hint, "--pid 70");
}

TEST(RunningJob, KnowsThisProcess) {
  const auto job = running_job(getpid());
  ASSERT_TRUE(job);
  EXPECT_FALSE(job->command.empty());
  EXPECT_EQ(job->working_directory, fs::current_path().string());
  ASSERT_TRUE(job->age);
  EXPECT_LT(job->age->value(), 3600);
}

}  // namespace
}  // namespace rubato::cli
