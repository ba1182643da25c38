#include "conduct/job.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace rubato::conduct {
namespace {

using State = JobStatus::State;

Job shell(const std::string& script,
          const std::vector<std::pair<std::string, std::string>>& environment = {}) {
  auto job = Job::start({"sh", "-c", script}, environment);
  if (!job) throw std::runtime_error(job.error().error.what);
  return *job;
}

/// Blocks in the kernel until the job has something to tell, and leaves the telling to poll().
JobStatus next_change(Job& job) {
  siginfo_t info{};
  EXPECT_EQ(waitid(P_PID, static_cast<id_t>(job.pid()), &info, WEXITED | WSTOPPED | WCONTINUED | WNOWAIT), 0);
  return job.poll();
}

class JobTest : public testing::Test {
 protected:
  JobTest() {
    sigprocmask(SIG_SETMASK, nullptr, &mask_);
    remember_signals();
  }
  ~JobTest() override {
    sigprocmask(SIG_SETMASK, &mask_, nullptr);
    for (const int number : {SIGINT, SIGHUP}) std::signal(number, SIG_DFL);
  }

 private:
  sigset_t mask_{};
};

TEST_F(JobTest, TellsTheExitCode) {
  Job job = shell("exit 42");
  const JobStatus status = next_change(job);
  EXPECT_EQ(status.state, State::exited);
  EXPECT_EQ(status.code, 42);
  EXPECT_TRUE(job.poll().ended()) << "the end is remembered";
  job.send(SIGTERM);  // to nobody: the process id may be somebody else's by now
}

TEST_F(JobTest, TellsTheSignalThatEndedIt) {
  Job job = shell("kill -KILL $$");
  const JobStatus status = next_change(job);
  EXPECT_EQ(status.state, State::killed);
  EXPECT_EQ(status.signal, SIGKILL);
}

TEST_F(JobTest, ACommandThatIsNotThereIs127) {
  const auto job = Job::start({"/nonexistent/train"}, {});
  ASSERT_FALSE(job);
  EXPECT_EQ(job.error().exit_code, 127);
  EXPECT_NE(job.error().error.what.find("/nonexistent/train"), std::string::npos) << job.error().error.what;
}

TEST_F(JobTest, AFileThatIsNotExecutableIs126) {
  const auto job = Job::start({"/etc/passwd"}, {});
  ASSERT_FALSE(job);
  EXPECT_EQ(job.error().exit_code, 126);
}

TEST_F(JobTest, TheEnvironmentIsAddedToTheCallersOwn) {
  ::setenv("RUBATO_JOB_TEST", "old", 1);
  Job job = shell("test \"$RUBATO_JOB_TEST/$RUBATO_MARKS\" = new/here && test -n \"$PATH\"",
                  {{"RUBATO_JOB_TEST", "new"}, {"RUBATO_MARKS", "here"}});
  EXPECT_EQ(next_change(job).code, 0);
  EXPECT_STREQ(::getenv("RUBATO_JOB_TEST"), "old");
}

TEST_F(JobTest, ASignalThatRubatoBlocksEndsTheJob) {
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  sigprocmask(SIG_BLOCK, &blocked, nullptr);
  Job job = shell("kill -TERM $$; exit 9");
  const JobStatus status = next_change(job);
  EXPECT_EQ(status.state, State::killed);
  EXPECT_EQ(status.signal, SIGTERM);
}

TEST_F(JobTest, ASignalThatRubatoIgnoresEndsTheJob) {
  std::signal(SIGINT, SIG_IGN);
  Job job = shell("kill -INT $$; exit 9");
  EXPECT_EQ(next_change(job).signal, SIGINT);
}

TEST_F(JobTest, WhatWasIgnoredAtStartUpStaysIgnored) {
  std::signal(SIGHUP, SIG_IGN);
  remember_signals();
  std::signal(SIGHUP, SIG_DFL);
  Job job = shell("kill -HUP $$; exit 9");
  EXPECT_EQ(next_change(job).code, 9);
}

TEST_F(JobTest, TellsThatItWasStoppedAndGoesOn) {
  Job job = shell("kill -STOP $$; exec sleep 60");
  JobStatus status = next_change(job);
  EXPECT_EQ(status.state, State::stopped);
  EXPECT_EQ(status.signal, SIGSTOP);
  EXPECT_EQ(job.poll().state, State::stopped) << "the last known state";
  job.send(SIGCONT);
  EXPECT_EQ(next_change(job).state, State::running);
  job.send(SIGTERM);
  status = next_change(job);
  EXPECT_EQ(status.state, State::killed);
  EXPECT_EQ(status.signal, SIGTERM);
}

}  // namespace
}  // namespace rubato::conduct
